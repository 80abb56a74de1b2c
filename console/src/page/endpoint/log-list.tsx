import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import type { LogEntry } from './log.ts';
import { LogLine } from './log-line.tsx';

const LINE_PX = 29;

/** A virtual list of entries, each on a line that expands. */
export function LogList({ entries }: { readonly entries: readonly LogEntry[] }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const scroll = useRef<HTMLElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => LINE_PX,
    getItemKey: (index) => entries[index]?.id ?? index,
    overscan: 16,
  });
  const toggle = (id: string) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  return (
    <section className="log-list" ref={scroll} tabIndex={0} aria-label="Log entries, newest first">
      <ol style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map((item) => {
          const entry = entries[item.index];
          if (entry === undefined) return null;
          return (
            <li
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <LogLine entry={entry} open={open.has(entry.id)} onToggle={() => toggle(entry.id)} />
            </li>
          );
        })}
      </ol>
    </section>
  );
}
