import { createMessages } from '../protobuf.ts';

/** A push request as its protobuf decodes. */
export interface PushRequest {
  readonly streams: readonly {
    readonly labels: string;
    readonly entries: readonly {
      readonly timestamp?: { readonly seconds: unknown; readonly nanos: number } | null;
      readonly line: string;
      readonly structuredMetadata: readonly { readonly name: string; readonly value: string }[];
    }[];
  }[];
}

// By the field numbers of the protocol (logproto).
const root = createMessages({
  PushRequest: { streams: [1, 'repeated Stream'] },
  Stream: { labels: [1, 'string'], entries: [2, 'repeated Entry'] },
  Entry: {
    timestamp: [1, 'Timestamp'],
    line: [2, 'string'],
    structuredMetadata: [3, 'repeated LabelPair'],
  },
  Timestamp: { seconds: [1, 'int64'], nanos: [2, 'int32'] },
  LabelPair: { name: [1, 'string'], value: [2, 'string'] },
});

const type = root.lookupType('PushRequest');

/** @throws Error if the bytes are not this message */
export function decodePushRequest(bytes: Uint8Array): PushRequest {
  return type.decode(bytes) as unknown as PushRequest; // of these fields
}
