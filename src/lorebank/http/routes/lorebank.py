"""What lorebank adds to the API: care for the whole data directory."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.maintenance import BackupRequest, DoctorRequest, ReembedRequest, StatusQuery

BINDINGS = (
    bind("GET", "/v1/lorebank/status", "get_server_status", query=StatusQuery),
    bind("GET", "/v1/lorebank/tasks/{task_id}", "get_server_task"),
    bind("POST", "/v1/lorebank/doctor", "run_doctor", body=DoctorRequest, status=202),
    bind("POST", "/v1/lorebank/backup", "run_backup", body=BackupRequest, status=202),
    bind("POST", "/v1/lorebank/reembed", "run_reembed", body=ReembedRequest, status=202),
)
