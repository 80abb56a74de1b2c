import type { FastifyReply } from 'fastify';

/** Headers of an answer, names and values by turns: as Node writes them with the least work. */
export type Head = readonly string[];

/** Adds them to those that the framework will write. */
export function addHead(reply: FastifyReply, head: Head): void {
  for (let at = 0; at < head.length; at += 2) reply.header(head[at] ?? '', head[at + 1]);
}
