import { formatAgo, formatTime, zoneName } from '../../format/time.ts';
import { useZone } from '../../preference.ts';

/** How long ago an instant is; the title has the instant itself. */
export function Ago({ iso, nowMs }: { readonly iso: string; readonly nowMs: number }) {
  const zone = useZone();
  const ms = Date.parse(iso);
  return (
    <time dateTime={iso} title={`${formatTime(ms, zone)} ${zoneName(zone)}`}>
      {formatAgo(ms, nowMs)}
    </time>
  );
}
