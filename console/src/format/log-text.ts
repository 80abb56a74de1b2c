// Terminal codes: colours and cursor moves (CSI), titles and links (OSC), and others of two characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
// All control characters but tab and line feed, line separators, and those that change the direction of text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text of an event as it is safe to show: without the colours of terminals, and with control characters visible, as ⟨U+202E⟩.
 * Characters that change the direction of text could make a line read as another one.
 */
export function showText(text: string): string {
  return showControls(text.replaceAll(TERMINAL, ''));
}

/** Control characters made visible; terminal codes stay, as part of the text. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(CONTROLS, (control) => {
    const code = control.charCodeAt(0).toString(16).toUpperCase();
    return `⟨U+${code.padStart(4, '0')}⟩`;
  });
}

type AnsiColor = 'grey' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan';

/** A part of a text that is drawn in one way. */
interface AnsiPart {
  readonly text: string;
  readonly style: AnsiStyle;
}

interface AnsiStyle {
  /** Undefined: the colour of the text around it. */
  readonly color?: AnsiColor | undefined;
  /** Colour of the background. */
  readonly ground?: AnsiColor | undefined;
  readonly bold?: boolean;
  readonly dim?: boolean;
  readonly italic?: boolean;
  readonly underline?: boolean;
}

const PLAIN: AnsiStyle = {};
/** Black and white depend on the theme, so they are the text's own colour; bright black is grey everywhere. */
const BASIC = [undefined, 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', undefined] as const;

/**
 * The parts of a text that terminal codes colour, as it is safe to show: their texts together are `showText(text)`. The colours of a
 * terminal become the nearest of seven that can be read on either theme. Codes that move the cursor are left out. Linear time.
 */
export function parseAnsi(text: string): readonly AnsiPart[] {
  const parts: AnsiPart[] = [];
  let style = PLAIN;
  let from = 0;
  const add = (until: number, next: string | undefined) => {
    const piece = text.slice(from, until);
    // A line end that a code divides is one.
    const isDivided = piece.endsWith('\r') && next === '\n';
    const shown = showControls(isDivided ? piece.slice(0, -1) : piece);
    if (shown !== '') parts.push({ text: shown, style });
  };
  for (const { 0: code, index } of text.matchAll(TERMINAL)) {
    add(index, text[index + code.length]);
    from = index + code.length;
    if (code.startsWith('\u001b[') && code.endsWith('m')) style = applyCodes(style, code.slice(2, -1));
  }
  add(text.length, undefined);
  return parts;
}

/** @param codes `1;38;5;208`; none resets */
function applyCodes(before: AnsiStyle, codes: string): AnsiStyle {
  const numbers = codes.split(/[;:]/).map(Number);
  let style = before;
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] ?? 0;
    if (code === 38 || code === 48) {
      const { color, length } = readColor(numbers, i + 1);
      style = { ...style, [code === 38 ? 'color' : 'ground']: color };
      i += length;
    } else style = applyCode(style, code);
  }
  return style;
}

/** The colour in `5;208` or `2;255;135;0`, and how many numbers name it. */
function readColor(numbers: readonly number[], from: number) {
  if (numbers[from] !== 5) return { color: nearest(numbers.slice(from + 1, from + 4)), length: 4 };
  return { color: colorAt(numbers[from + 1] ?? 0), length: 2 };
}

const SWITCHES: Readonly<Record<number, AnsiStyle>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  39: { color: undefined },
  49: { ground: undefined },
  90: { color: 'grey' },
  100: { ground: 'grey' },
};

function applyCode(style: AnsiStyle, code: number): AnsiStyle {
  if (code === 0) return PLAIN;
  const change = SWITCHES[code];
  if (change !== undefined) return { ...style, ...change };
  const [tens, unit] = [Math.floor(code / 10), code % 10];
  if (unit > 7) return style;
  if (tens === 3 || tens === 9) return { ...style, color: BASIC[unit] };
  return tens === 4 || tens === 10 ? { ...style, ground: BASIC[unit] } : style;
}

/** A colour of the table of 256: 16 basic ones, a cube of 6 × 6 × 6, and greys. */
function colorAt(index: number): AnsiColor | undefined {
  if (index < 16) return index === 8 ? 'grey' : BASIC[index % 8];
  if (index > 231) return 'grey';
  const at = index - 16;
  return nearest([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6]);
}

/** Upper ends of the hues, in degrees. */
const HUES = [
  [20, 'red'],
  [75, 'yellow'],
  [165, 'green'],
  [200, 'cyan'],
  [265, 'blue'],
  [340, 'magenta'],
  [361, 'red'],
] as const;
/** Below it, a colour looks grey. */
const SATURATION_MIN = 0.2;

/** The nearest hue of red, green and blue. */
function nearest([r = 0, g = 0, b = 0]: readonly number[]): AnsiColor | undefined {
  const max = Math.max(r, g, b);
  const range = max - Math.min(r, g, b);
  if (max === 0 || range / max < SATURATION_MIN) return undefined;
  const sector = max === r ? (g - b) / range : max === g ? 2 + (b - r) / range : 4 + (r - g) / range;
  const hue = (sector * 60 + 360) % 360;
  return HUES.find(([end]) => hue < end)?.[1];
}
