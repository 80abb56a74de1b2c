interface SparklineProps {
  /** Oldest first; null: no value. */
  readonly values: readonly (number | null)[];
  readonly label: string;
  readonly tone?: 'data-1' | 'data-bad';
  /** Values that fill its width; earlier ones that are missing are zero. */
  readonly points?: number;
}

// The service counts an hour, minute by minute.
const MINUTES = 60;
const WIDTH = 120;
const HEIGHT = 28;

export function Sparkline({ label, tone = 'data-1', points: count = MINUTES, ...given }: SparklineProps) {
  // Minutes before the start are empty, so that all minutes have the same width.
  const values = [...Array<number>(Math.max(0, count - given.values.length)).fill(0), ...given.values];
  const max = Math.max(1e-9, ...values.map((value) => value ?? 0));
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, i) => {
    const y = HEIGHT - 2 - ((value ?? 0) / max) * (HEIGHT - 4);
    return `${(i * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const color = `var(--${tone})`;
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} fill={color} opacity="0.14" />
      <polyline
        points={points.join(' ')}
        fill="none"
        stroke={color}
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}
