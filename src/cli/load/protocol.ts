/** A statement for the reading process of `tailrace load`. */
export interface BulkRequest {
  readonly statement: string;
}

/** Its rows as JSON, or the engine's message. */
export type BulkReply = { readonly text: string } | { readonly failure: string };
