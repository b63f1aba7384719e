use super::*;
use super::planted::Compared;
use super::late::Late;
use drive::mechanical::MechanicalDrive;
use crate::subject::SimulatedSubject;
#[test]
fn look() {
    for (name, mechanics, depth) in disks() {
        for noisy in [false, true] {
            let mut drive = MechanicalDrive::new(&mechanics, depth, 1).unwrap();
            let mut subject = SimulatedSubject::new(&mut drive);
            let g = if noisy { geometry(&mut Late::new(subject, 5), mechanics.sectors, Bytes::new(512), 1) } else { geometry(&mut subject, mechanics.sectors, Bytes::new(512), 1) };
            let g = g.unwrap();
            let c = Compared::new(&mechanics, &g);
            println!("{name} {noisy}: {c:?}");
            println!("     FAULTS {:?}", c.faults());
            println!("     {:?} {:?}\n      zl {:?} planted {} serp {:?} hs {:?} planted {} left {:?} least {}, {:?}", g.rotation, g.zones.as_ref().unwrap().tracks, g.seek.as_ref().map(|s|s.zero_latency), mechanics.zero_latency,g.seek.as_ref().map(|s|s.is_serpentine), g.seek.as_ref().map(|s|s.head_switch_ns), mechanics.head_switch_ns, g.seek.as_ref().map(|s|s.left_out.clone()), g.seek.as_ref().map_or(0,|s|s.least_ns), g.overhead);
            println!("     requests {:?}", (g.rotation.as_ref().map(|r|r.requests), g.overhead.as_ref().map(|r|r.requests),g.zones.as_ref().map(|r|r.requests),g.seek.as_ref().map(|r|r.requests)));
        }
    }
}
