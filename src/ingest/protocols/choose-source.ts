import { type AcceptedProtocol, accepts, GENERAL_SOURCE } from '../../definitions/accepts.ts';
import { isManaged, type Source } from '../../definitions/source.ts';
import type { WireEvent } from '../body-format.ts';
import { isObject, tryParse } from '../json/value.ts';
import { RefusedEvent } from '../read-event.ts';

/**
 * Returns the source of an event that names none: the first that accepts its labels, else the general one.
 *
 * @param candidates the sources that the sender may send to
 * @throws RefusedEvent if none accepts it
 */
export function chooseSource(
  candidates: readonly Source[],
  {
    protocol,
    wire,
  }: {
    readonly protocol: AcceptedProtocol | undefined;
    readonly wire: WireEvent;
  },
): Source {
  let labels: WireEvent['labels']; // reading them may take as long as the event
  const source =
    candidates.find((one) =>
      one.accepts?.some((rule) => {
        if (rule.protocol !== protocol) return false;
        labels ??= labelsOf(wire);
        return accepts(rule, labels);
      }),
    ) ?? candidates.find((one) => one.name === GENERAL_SOURCE && isManaged(one));
  if (source !== undefined) return source;
  throw new RefusedEvent(
    'belongs to no source that this key may send to: none accepts it, and there is no source ' +
      `"${GENERAL_SOURCE}"; name one in the header X-Source`,
  );
}

/** Returns the labels of an event; those of a document are its members, which are parsed only if a source asks for them. */
function labelsOf(wire: WireEvent): NonNullable<WireEvent['labels']> {
  if (wire.labels !== undefined || !('line' in wire) || wire.document === undefined) return wire.labels ?? {};
  const shared = wire.document.shared?.values;
  const own = tryParse(wire.line.toString());
  return isObject(own) ? { ...shared, ...own } : (shared ?? {});
}
