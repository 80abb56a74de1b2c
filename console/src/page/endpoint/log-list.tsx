import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { useHeld } from '../../ui/use-waiting.ts';
import type { LogEntry } from './log.ts';
import { LogLine } from './log-line.tsx';

const LINE_PX = 29;

interface LogListProps {
  readonly entries: readonly LogEntry[];
  /** Whether the entries are looked at: one is open, or the newest are out of sight. */
  readonly onHeld: (isHeld: boolean) => void;
}

/** A virtual list of entries, each on a line that expands. */
export function LogList({ entries, onHeld }: LogListProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const [isScrolled, setScrolled] = useState(false);
  useHeld(isScrolled || (open.size > 0 && entries.some(({ id }) => open.has(id))), onHeld);
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
    <section
      className="log-list"
      ref={scroll}
      tabIndex={0}
      aria-label="Log entries, newest first"
      onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop > LINE_PX)}
    >
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
