const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** `1.5 MiB` */
export function formatBytes(bytes: number): string {
  const power = Math.min(bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10), UNITS.length - 1);
  const size = bytes / 1024 ** power;
  return `${power === 0 ? size : size.toFixed(1)} ${UNITS[power]}`;
}
