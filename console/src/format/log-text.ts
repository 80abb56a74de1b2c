// Terminal codes: colours and cursor moves (CSI), titles and links (OSC), and others of two characters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const TERMINAL = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;
// All control characters but tab and line feed, line separators, and those that change the direction of text.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text of an event without colours of terminals, and with controls shown as ⟨U+202E⟩: they could change how it reads. */
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
