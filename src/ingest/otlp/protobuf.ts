import protobuf from 'protobufjs/light.js';

/** Fields of messages: message → field → [number, type]; `repeated` before the type if there may be many. */
export type Messages = Readonly<Record<string, Readonly<Record<string, readonly [number, string]>>>>;

/**
 * Creates the types of a protocol.
 *
 * @param oneofs messages that have exactly one of their fields: message → name of the choice
 */
export function createMessages(
  messages: Messages,
  oneofs: Readonly<Record<string, string>> = {},
): protobuf.Root {
  const nested = Object.entries(messages).map(([name, fields]) => {
    const entries = Object.entries(fields).map(([field, [id, type]]) => {
      const repeated = type.startsWith('repeated ');
      return [field, { id, type: type.replace('repeated ', ''), ...(repeated && { rule: 'repeated' }) }];
    });
    const oneof = oneofs[name];
    const choices = oneof === undefined ? {} : { oneofs: { [oneof]: { oneof: Object.keys(fields) } } };
    return [name, { fields: Object.fromEntries(entries), ...choices }];
  });
  return protobuf.Root.fromJSON({ nested: Object.fromEntries(nested) });
}
