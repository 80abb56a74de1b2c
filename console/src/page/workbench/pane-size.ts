import { type CSSProperties, useState } from 'react';
import { usePreference } from '../../preference.ts';
import { type Bounds, remPixels } from '../../ui/resizer.tsx';

declare module 'react' {
  interface CSSProperties {
    '--sql-width'?: string;
    '--definition-width'?: string;
    '--editor-height'?: string;
  }
}

/** The share of query.sql, in percent. */
export const WIDTH: Bounds = { min: 20, max: 80 };
/** The height of both editors, in rem, so that it grows with the text. */
export const HEIGHT: Bounds = { min: 8, max: 80 };

const FIRST_WIDTH = 55;
/** Parts of the window's height, and what they are bounded by. */
const FIRST_HEIGHT = { share: 0.29, min: 13, max: 34 };

type Edge = 'width' | 'height';

const NAMES: Readonly<Record<Edge, string>> = { width: 'workbench.width', height: 'workbench.height' };

export interface PaneSizes {
  /** CSS of the grid of both editors. */
  readonly style: CSSProperties;
  of(edge: Edge): number;
  /** Returns what a bar calls: `isLast` keeps the size in this browser; `undefined` is the first size. */
  changeTo(edge: Edge): (size: number | undefined, isLast: boolean) => void;
}

/** The sizes of the editors in this browser. */
export function usePaneSizes(): PaneSizes {
  const { preference, change } = usePreference();
  const [dragged, setDragged] = useState<Partial<Record<Edge, number>>>({});
  const sizeOf = (edge: Edge) => dragged[edge] ?? preference.panes[NAMES[edge]];
  const width = within(sizeOf('width') ?? FIRST_WIDTH, WIDTH);
  const height = within(sizeOf('height') ?? firstHeight(), HEIGHT);
  return {
    style: {
      '--sql-width': `${width}fr`,
      '--definition-width': `${100 - width}fr`,
      '--editor-height': `${height}rem`,
    },
    of: (edge) => ({ width, height })[edge],
    changeTo: (edge) => (size, isLast) => {
      setDragged(isLast || size === undefined ? {} : { [edge]: size });
      if (!isLast) return;
      const { [NAMES[edge]]: _, ...others } = preference.panes;
      change({ panes: size === undefined ? others : { ...others, [NAMES[edge]]: size } });
    },
  };
}

/** A stored size may be of another version. */
function within(size: number, { min, max }: Bounds): number {
  return Math.max(min, Math.min(max, size));
}

function firstHeight(): number {
  const { share, ...bounds } = FIRST_HEIGHT;
  return within((innerHeight * share) / remPixels(), bounds);
}
