import { Resizer, remPixels } from '../resizer.tsx';
import type { ColumnWidths } from './column-width.ts';

interface ColumnResizerProps {
  /** As a reader hears it. */
  readonly label: string;
  readonly column: string;
  readonly widths: ColumnWidths;
}

/** The edge of a column. */
export function ColumnResizer({ label, column, widths }: ColumnResizerProps) {
  return (
    <Resizer
      className="line-resizer"
      orientation="vertical"
      label={`Width of ${label}`}
      size={widths.of(column)}
      bounds={widths.bounds}
      pixelsOf={remPixels}
      onChange={(width, isLast) => widths.change(column, width, isLast)}
    />
  );
}
