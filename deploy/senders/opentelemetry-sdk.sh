export OTEL_LOGS_EXPORTER=otlp
export OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf
export OTEL_EXPORTER_OTLP_LOGS_ENDPOINT='http://127.0.0.1:4000/v1/logs'
export OTEL_EXPORTER_OTLP_LOGS_HEADERS="x-api-key=$TAILRACE_KEY,x-source=logs,x-project=aurora"
