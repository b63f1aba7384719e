while read q; do echo '{"budget_ns":0,"alarm_ns":0}'; done
