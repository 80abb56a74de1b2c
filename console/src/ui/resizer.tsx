import { type KeyboardEvent, type PointerEvent, useRef } from 'react';
import './resizer.css';

interface ResizerProps {
  /** As a reader hears it. */
  readonly label: string;
  /** `vertical`: the bar stands between two things side by side. */
  readonly orientation: 'vertical' | 'horizontal';
  readonly className: string;
  readonly size: number;
  readonly bounds: Bounds;
  /** How many pixels one unit of the size has now. */
  readonly pixelsOf: (bar: HTMLElement) => number;
  /** Shows a size within the bounds; `isLast` keeps it. `undefined` is the size that it had at first. */
  readonly onChange: (size: number | undefined, isLast: boolean) => void;
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

const KEYS = {
  vertical: { less: 'ArrowLeft', more: 'ArrowRight' },
  horizontal: { less: 'ArrowUp', more: 'ArrowDown' },
} as const;

/** A bar that changes a size: drag it, or use arrow keys, Home and End; a double click or Delete returns to the first size. */
export function Resizer(props: ResizerProps) {
  const { label, orientation, className, size, bounds, pixelsOf, onChange } = props;
  const drag = useRef<{ readonly at: number; readonly size: number }>(undefined);
  const placeOf = (event: PointerEvent) => (orientation === 'vertical' ? event.clientX : event.clientY);
  const within = (to: number) => Math.max(bounds.min, Math.min(bounds.max, to));
  const dragged = (event: PointerEvent<HTMLElement>) => {
    const { at, size: before } = drag.current ?? { at: placeOf(event), size };
    return within(before + (placeOf(event) - at) / pixelsOf(event.currentTarget));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { less, more } = KEYS[orientation];
    const to = { [less]: size - 1, [more]: size + 1, Home: bounds.min, End: bounds.max }[event.key];
    if (to === undefined && event.key !== 'Delete') return;
    event.preventDefault();
    onChange(to && within(to), true);
  };
  return (
    <hr
      className={`resizer ${className}`}
      tabIndex={0}
      aria-orientation={orientation}
      aria-label={label}
      aria-valuenow={Math.round(size)}
      aria-valuemin={bounds.min}
      aria-valuemax={bounds.max}
      title="Drag to change the size; double-click to reset it"
      onKeyDown={onKeyDown}
      onDoubleClick={() => onChange(undefined, true)}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { at: placeOf(event), size };
      }}
      onPointerMove={(event) => {
        if (drag.current !== undefined) onChange(dragged(event), false);
      }}
      onPointerUp={(event) => {
        if (drag.current !== undefined && drag.current.at !== placeOf(event)) onChange(dragged(event), true);
        drag.current = undefined;
      }}
    />
  );
}

/** Pixels of a rem, with which the sizes of texts grow. */
export function remPixels(): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}
