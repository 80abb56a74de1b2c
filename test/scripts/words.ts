/** A form that the docs and the comments of src/ avoid, and the form that they use. Global, so that every match of a text is found. */
interface Word {
  readonly pattern: RegExp;
  readonly instead: string;
}

// After "of its own": the end of a phrase. "A copy of its own files" is fine.
const PHRASE_END =
  /(?=\s*(?:[.,;:)!?|]|$)|\s+(?:and|are|as|at|beside|but|by|for|from|has|have|if|in|is|of|on|or|over|per|so|than|that|to|until|when|which|while|with|without)\b)/;

/** One table for docs and comments; words in code spans are not meant. */
export const WORDS: readonly Word[] = [
  // "There is no page" is fine, as is "is no longer".
  {
    pattern:
      /(?<!\bthere\s)\b(?:is|are|was|were) no (?!(?:longer|more|less|later|earlier|faster|slower|larger|smaller|greater|older|newer|better|worse|different|other|need|way|such|one)\b)[\w`-]+/gi,
    instead: 'is not a …, has no …',
  },
  { pattern: /\bno whole number\b/gi, instead: 'not an integer' },
  { pattern: /\bin the place of\b/gi, instead: 'instead of' },
  { pattern: /\bin silence\b/gi, instead: 'silently' },
  { pattern: /\b(?:events|rows|texts|answers|versions) of before\b/gi, instead: 'earlier …' },
  {
    pattern: new RegExp(`\\bof (?:its|their|your|our|my|his|her) own\\b${PHRASE_END.source}`, 'gim'),
    instead: 'its own …, their own …, your own …',
  },
  {
    pattern:
      /(?<!\b(?:leave|leaves|left|let|lets|stand|stands)(?: \w+)? )\balone\b(?=\s*(?:[.,;:)|]|$)|\s+(?:and|or|is|are|that|which)\b)/gim,
    instead: '"only" before its word',
  },
  { pattern: /\balso (?:none|those|nested)\b/gi, instead: 'including …' },
  { pattern: /, also (?:after|beside|if|under|when|while)\b/gi, instead: 'even if …' },
  { pattern: /(?<!\bconnection )\brefus(?:e|es|ed|ing|al|als)\b/gi, instead: 'reject, rejection' },
  { pattern: /\b(?:is|are|was|were|be|been) answered\b/gi, instead: 'gets …, returns …' },
  { pattern: /\banswers? (?:no|\d{3})\b/gi, instead: 'returns …' },
  { pattern: /\b(?:is|are|was|were|be|been) told\b/gi, instead: 'is reported, is logged, gets …' },
  { pattern: /\b(?:is|are|was|were) away\b/gi, instead: 'is unavailable' },
  { pattern: /\bcomes? to nothing\b/gi, instead: 'fails' },
  { pattern: /\bwhat (?:becomes of|of it)\b/gi, instead: 'the noun that is meant' },
  { pattern: /\bthat there (?:is|are)(?: not)?(?=[.,;:)]|$)/gim, instead: 'existing …, missing …' },
  { pattern: /\bnot (?:\w+ )?any ?more\b/gi, instead: 'no longer' },
  { pattern: /\bgo(?:es)? on (?:with|after)\b/gi, instead: 'continue' },
  { pattern: /\ba heap of\b/gi, instead: 'many' },
  { pattern: /\bseldom\b/gi, instead: 'rarely' },
  { pattern: /\bby turns\b/gi, instead: 'alternately' },
  { pattern: /\breckon(?:s|ed|ing)?\b/gi, instead: 'estimate, calculate' },
  { pattern: /\/\*\* Of\b/g, instead: 'a subject and a verb' },
];

/** Where a text has forms to avoid, as `line 7: "is no number": is not a …, has no …`. Code blocks and code spans are left out. */
export function findWords(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, (code) => code.replaceAll(/[^\n]/g, '`'));
  return WORDS.flatMap(({ pattern, instead }) =>
    [...prose.matchAll(pattern)].map((match) => {
      const line = prose.slice(0, match.index).split('\n').length;
      return `line ${line}: "${match[0]}": ${instead}`;
    }),
  );
}
