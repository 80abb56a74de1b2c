import { SQLDialect } from '@codemirror/lang-sql';
import { yaml } from '@codemirror/lang-yaml';
import { syntaxTree } from '@codemirror/language';
import type { EditorState, Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  MatchDecorator,
  type PluginValue,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { KEYWORDS, TYPES } from './keyword.ts';

export type EditedLanguage = 'sql' | 'yaml';

const clickhouse = SQLDialect.define({
  keywords: KEYWORDS.join(' ').toLowerCase(),
  types: TYPES.join(' ').toLowerCase(),
  backslashEscapes: true,
  identifierQuotes: '"`',
  operatorChars: '*+-%<>!=&|^/?:',
  specialVar: '@',
});

export function languageOf(language: EditedLanguage): Extension {
  return language === 'sql' ? clickhouse.language : yaml();
}

/** Nodes of the syntax tree in which nothing is completed or marked. */
const QUOTED = new Set(['String', 'LineComment', 'BlockComment', 'QuotedIdentifier']);

export function isQuoted(state: EditorState, position: number, side: -1 | 1): boolean {
  return QUOTED.has(syntaxTree(state).resolveInner(position, side).name);
}

const mark = Decoration.mark({ class: 'cm-function' });

interface Marks extends PluginValue {
  decorations: DecorationSet;
}

/** Marks calls of these functions. No list of words of the dialect: columns may have the same names. */
export function markFunctions(names: readonly string[]): Extension {
  const known = new Set(names);
  const calls = new MatchDecorator({
    regexp: /[A-Za-z_]\w*(?=\()/g,
    decorate(add, from, to, [name], { state }) {
      if (known.has(name) && !isQuoted(state, from, 1)) add(from, to, mark);
    },
  });
  return ViewPlugin.define<Marks>(
    (view) => ({
      decorations: calls.createDeco(view),
      update(update: ViewUpdate) {
        this.decorations = calls.updateDeco(update, this.decorations);
      },
    }),
    { decorations: (plugin) => plugin.decorations },
  );
}
