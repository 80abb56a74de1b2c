// npm install pino pino-logflare
import { pino } from 'pino';

const transport = pino.transport({
  target: 'pino-logflare',
  options: {
    apiBaseUrl: "http://127.0.0.1:4000",
    apiKey: process.env.TAILRACE_KEY,
    sourceToken: "SOURCE_ID",
  },
});
const logger = pino({ base: { project: "aurora" } }, transport);

logger.info({ order: 1 }, 'it works');
