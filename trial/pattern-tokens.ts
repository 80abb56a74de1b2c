/** What opens a part of a pattern and does not end it: repeated, it is what a reader of patterns takes longest for. */
export const PATTERN_TOKENS: readonly string[] =
  'a{¦1¦\\p{¦\\Q¦[¦[^¦(¦(?¦(?P<a¦|¦.*¦{1,¦\\¦[[:¦[a-¦\\x{'.split('¦');
