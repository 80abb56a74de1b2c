import type { Random } from '../../../src/lib/random.ts';

/** What came of one input. */
export interface Outcome {
  /** The response in one word, such as its status. */
  readonly outcome: string;
  /** What was against the protocol, with the input. */
  readonly fault?: string;
}

/** Sends random inputs to one decoder, one after the other. */
export interface FuzzedSender {
  /** @throws Error if no response came in time */
  send(random: Random): Promise<Outcome>;
  close(): Promise<void>;
}
