// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A server in another program, with which the suite exchanges lines of JSON.
//!
//! ```text
//!  > {"new":{"budget_ns":4000,"period_ns":20000,"replenishments_max":20,"preemption_charge_ns":0}}
//!  < {"budget_ns":4000,"alarm_ns":null}
//!  > {"now_ns":0,"executed_ns":0,"event":"unblock"}
//!  < {"budget_ns":4000,"alarm_ns":null,"replenishments_ns":[[0,4000]]}
//! ```
//! `replenishments_ns` may be omitted; I1, I4 and I5 are then not checked.

use std::cell::RefCell;
use std::io::{self, BufRead, Write};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use tidegate_cpu_model::{ServerKind, ServerParams, ServerParamsError};
use tidegate_cpu_servers::{self, Replenishment, Server, ServerEvent, ServerStatus};
use tidegate_model::{Duration, Time};

use crate::supports::{Supports, SupportsError};
use crate::trace::{EventName, replenishments};

/// The number of characters of an invalid answer that an error shows.
const SHOWN_CHARS: usize = 200;

/// Why the other program cannot be tested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExternalError {
    /// Writing to the program, or reading from it, failed.
    #[error("cannot communicate with the program: {0}")]
    Io(#[from] io::Error),
    /// The log cannot be written.
    #[error("cannot write the log of the conversation: {0}")]
    Log(#[source] io::Error),
    /// The program's declaration is not usable.
    #[error(transparent)]
    Supports(#[from] SupportsError),
    /// The program ended, or closed its output.
    #[error("the program ended after the question `{question}`")]
    Ended {
        /// The question.
        question: String,
    },
    /// The answer is invalid.
    #[error("the program answered `{answer}` to `{question}`: {source}")]
    Answer {
        /// The question.
        question: String,
        /// The answer.
        answer: String,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// The program requests an alarm that is not in the future although it has work: it does not
    /// conform.
    #[error("alarm_ns is not after now_ns: the program answered `{answer}` to `{question}`")]
    Alarm {
        /// The question.
        question: String,
        /// The answer.
        answer: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct New {
    budget_ns: u64,
    period_ns: u64,
    replenishments_max: u32,
    preemption_charge_ns: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Question {
    New {
        new: New,
    },
    Event {
        now_ns: u64,
        executed_ns: u64,
        event: EventName,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        preempts: Option<bool>,
    },
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    budget_ns: u64,
    alarm_ns: Option<u64>,
    #[serde(default)]
    replenishments_ns: Vec<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supports: Option<Declaration>,
}

/// The program's declaration in its answer to `new` of the parts that it supports. An omitted part
/// is not declared.
#[derive(Default, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Declaration {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    preemption_charge: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replenishments_min: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replenishments_max: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    granularity_ns: Option<u64>,
}

impl Declaration {
    const ALL: Self = Self {
        preemption_charge: Some(true),
        replenishments_min: Some(1),
        replenishments_max: None,
        granularity_ns: None,
    };

    fn supports(self) -> Result<Supports, SupportsError> {
        let assumed = Supports::UNDECLARED;
        let granularity = self.granularity_ns.map_or(assumed.granularity, Duration::from_ns);
        Supports {
            preemption_charge: self.preemption_charge.unwrap_or(assumed.preemption_charge),
            replenishments_min: self.replenishments_min.unwrap_or(assumed.replenishments_min),
            replenishments_max: self.replenishments_max.unwrap_or(assumed.replenishments_max),
            granularity,
        }
        .checked()
    }
}

/// Answers the protocol's questions with this project's servers until the input ends. This is the
/// other side of the protocol, for authors of implementations.
///
/// # Errors
/// If reading or writing fails, a line is not a question, or an event precedes the first `new`.
pub fn answer(
    kind: ServerKind,
    reader: impl BufRead,
    mut writer: impl Write,
) -> Result<(), QuestionError> {
    let mut server: Option<Box<dyn Server + Send>> = None;
    for (number, line) in (1..).zip(reader.lines()) {
        let line = line?;
        let question =
            serde_json::from_str(&line).map_err(|source| QuestionError::Line { number, source })?;
        let (now, supports) = match question {
            Question::New { new } => {
                server = Some(tidegate_cpu_servers::build(&new.params(kind).checked()?));
                (Time::ZERO, Some(Declaration::ALL))
            }
            Question::Event { now_ns, executed_ns, event, preempts } => {
                let server = server.as_mut().ok_or(QuestionError::NewMissing)?;
                let event = event.event(preempts.unwrap_or(false));
                let now = Time::from_ns(now_ns);
                server.observe(now, Duration::from_ns(executed_ns), event);
                (now, None)
            }
        };
        let server = server.as_ref().ok_or(QuestionError::NewMissing)?;
        let reply = Reply { supports, ..Reply::of(&**server, now) };
        let answer = serde_json::to_string(&reply).map_err(io::Error::from)?;
        writeln!(writer, "{answer}")?;
        writer.flush()?;
    }
    Ok(())
}

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The input or the output failed.
    #[error("cannot read a question or write an answer: {0}")]
    Io(#[from] io::Error),
    /// The line is not a question.
    #[error("line {number} is not a question: {source}")]
    Line {
        /// The line's number, from 1.
        number: usize,
        /// The parser's error.
        source: serde_json::Error,
    },
    /// An event precedes the first `new`, so it has no server.
    #[error("an event precedes the first {{\"new\": ..}}")]
    NewMissing,
    /// The parameters are invalid.
    #[error(transparent)]
    Server(#[from] ServerParamsError),
}

impl New {
    fn params(&self, kind: ServerKind) -> ServerParams {
        let ns = Duration::from_ns;
        ServerParams {
            replenishments_max: self.replenishments_max,
            preemption_charge: ns(self.preemption_charge_ns),
            ..ServerParams::new(kind, ns(self.budget_ns), ns(self.period_ns))
        }
    }
}

impl Reply {
    fn of(server: &dyn Server, now: Time) -> Self {
        let status = server.status(now);
        let mut known = Vec::new();
        server.replenishments(&mut known);
        Self {
            budget_ns: status.budget.ns(),
            alarm_ns: status.alarm.map(Time::ns),
            replenishments_ns: known.iter().map(|it| (it.at.ns(), it.amount.ns())).collect(),
            supports: None,
        }
    }
}

impl Question {
    /// Returns whether `answer` requests another event at the same instant. A blocked server is
    /// sent no such event.
    fn is_asked_again_at_once(&self, answer: &Reply) -> bool {
        let Self::Event { now_ns, event, .. } = self else { return false };
        *event != EventName::Block && answer.alarm_ns.is_some_and(|alarm| alarm <= *now_ns)
    }
}

/// Returns an answer for an error message, cut if it is long.
fn shown(answer: &str) -> String {
    let answer = answer.trim_end();
    match answer.char_indices().nth(SHOWN_CHARS) {
        None => answer.to_owned(),
        Some((end, _)) => format!("{} .. ({} bytes)", &answer[..end], answer.len()),
    }
}

/// A connection to a program, and the first error on it.
struct Connection<R, W> {
    reader: R,
    writer: W,
    error: Option<ExternalError>,
    /// The log to which every question and answer is written.
    log: Option<Box<dyn Write>>,
}

impl<R: BufRead, W: Write> Connection<R, W> {
    fn write_log(&mut self, direction: char, line: &str) -> Result<(), ExternalError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        writeln!(log, "{direction} {line}").map_err(ExternalError::Log)
    }

    fn ask(&mut self, asked: &Question) -> Result<Reply, ExternalError> {
        let question = serde_json::to_string(asked).map_err(io::Error::from)?;
        self.write_log('>', &question)?;
        writeln!(self.writer, "{question}")?;
        self.writer.flush()?;
        let mut text = String::new();
        if self.reader.read_line(&mut text)? == 0 {
            return Err(ExternalError::Ended { question });
        }
        self.write_log('<', text.trim_end())?;
        match serde_json::from_str::<Reply>(&text) {
            Err(source) => Err(ExternalError::Answer { question, answer: shown(&text), source }),
            Ok(answer) if asked.is_asked_again_at_once(&answer) => {
                Err(ExternalError::Alarm { question, answer: shown(&text) })
            }
            Ok(answer) => Ok(answer),
        }
    }

    /// Sends a question unless there was an error: then the server has no budget for the rest of
    /// the run.
    fn ask_or_note(&mut self, question: &Question) -> Reply {
        if self.error.is_some() {
            return Reply::default();
        }
        self.ask(question).unwrap_or_else(|error| {
            self.error = Some(error);
            Reply::default()
        })
    }
}

/// Another program that implements servers.
pub struct External<R, W> {
    connection: Rc<RefCell<Connection<R, W>>>,
}

impl<R: BufRead + 'static, W: Write + 'static> External<R, W> {
    /// Creates a connection to a program: questions go to `writer`, answers come from `reader`.
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            connection: Rc::new(RefCell::new(Connection {
                reader,
                writer,
                error: None,
                log: None,
            })),
        }
    }

    /// Writes every question (`>`) and every answer (`<`) to a log from now on.
    pub fn log_to(&self, log: impl Write + 'static) {
        self.connection.borrow_mut().log = Some(Box::new(log));
    }

    /// Asks for one server to learn which parts the program declares; without a declaration this is
    /// [`Supports::UNDECLARED`].
    pub fn supports(&self) -> Supports {
        let new = New {
            budget_ns: 20_000_000,
            period_ns: 50_000_000,
            replenishments_max: 20,
            preemption_charge_ns: 0,
        };
        let mut connection = self.connection.borrow_mut();
        let answer = connection.ask_or_note(&Question::New { new });
        answer.supports.unwrap_or_default().supports().unwrap_or_else(|error| {
            connection.error.get_or_insert(error.into());
            Supports::UNDECLARED
        })
    }

    /// Creates a new server in the program, with its full budget.
    pub fn server(&self, params: &ServerParams) -> Box<dyn Server> {
        let new = New {
            budget_ns: params.budget.ns(),
            period_ns: params.period.ns(),
            replenishments_max: params.replenishments_max,
            preemption_charge_ns: params.preemption_charge.ns(),
        };
        let answer = self.connection.borrow_mut().ask_or_note(&Question::New { new });
        Box::new(Remote { connection: Rc::clone(&self.connection), answer, period: params.period })
    }

    /// Returns the first error, if there was one. An error makes the report worthless.
    pub fn take_error(&self) -> Option<ExternalError> {
        self.connection.borrow_mut().error.take()
    }
}

/// A server that the other program implements.
struct Remote<R, W> {
    connection: Rc<RefCell<Connection<R, W>>>,
    answer: Reply,
    period: Duration,
}

impl<R: BufRead, W: Write> Server for Remote<R, W> {
    fn observe(&mut self, now: Time, executed: Duration, event: ServerEvent) {
        let preempts = match event {
            ServerEvent::Dispatch { preempts } => Some(preempts),
            _ => None,
        };
        self.answer = self.connection.borrow_mut().ask_or_note(&Question::Event {
            now_ns: now.ns(),
            executed_ns: executed.ns(),
            event: event.into(),
            preempts,
        });
    }

    fn status(&self, now: Time) -> ServerStatus {
        ServerStatus {
            budget: Duration::from_ns(self.answer.budget_ns),
            alarm: self.answer.alarm_ns.map(Time::from_ns),
            due: now + self.period,
        }
    }

    fn replenishments(&self, out: &mut Vec<Replenishment>) {
        out.clear();
        out.extend(replenishments(&self.answer.replenishments_ns));
    }
}
