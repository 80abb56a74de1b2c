// npm install winston winston-loki
import winston from 'winston';
import LokiTransport from 'winston-loki';

const transport = new LokiTransport({
  host: "http://127.0.0.1:4000",
  basicAuth: 'tailrace:' + process.env.TAILRACE_KEY,
  labels: { app: 'my-app', project: "aurora" },
  json: true,
});
const logger = winston.createLogger({ transports: [transport] });

logger.info('it works');
