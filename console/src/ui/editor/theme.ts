import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

// Colours are the custom properties of style/token.css: a shadow tree inherits them, and they follow the theme of the page.
const look = EditorView.theme({
  '&': {
    height: '100%',
    fontSize: 'var(--text-sm)',
    color: 'var(--text)',
    backgroundColor: 'var(--surface)',
  },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6', fontVariantLigatures: 'none' },
  '.cm-content': { padding: '0.5rem 0', caretColor: 'var(--text)' },
  '.cm-cursor, .cm-dropCursor': { borderLeftColor: 'var(--text)' },
  '.cm-placeholder': { color: 'var(--text-3)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-3)', border: '0' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunken) 60%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'color-mix(in srgb, var(--accent) 28%, transparent)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--accent)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad) 1px',
    textUnderlineOffset: '0.25em',
  },
  '.cm-lintPoint-error::after': { borderBottomColor: 'var(--bad)' },
  '.cm-gutter-lint': { width: '0.75rem' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '0 0.125rem' },
  '.cm-lint-marker': { width: '0.5rem', height: '0.5rem', marginTop: '0.45rem', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: '""', backgroundColor: 'var(--bad)' },
  '.cm-tooltip': {
    border: '1px solid var(--border-control)',
    borderRadius: 'var(--radius-sm)',
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    boxShadow: '0 0.5rem 1.5rem rgb(8 16 24 / 20%)',
    overflow: 'hidden',
  },
  '.cm-tooltip-lint': { maxWidth: 'min(40rem, 90vw)' },
  '.cm-diagnostic': { padding: '0.25rem 0.5rem', font: '400 var(--text-sm) / 1.5 var(--font)' },
  '.cm-diagnostic-error': { borderLeft: '3px solid var(--bad)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': {
    maxHeight: 'none',
    font: '400 var(--text-sm) / 1.6 var(--mono)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.0625rem 0.5rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--text)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', color: 'var(--accent-strong)', fontWeight: '650' },
  '.cm-completionDetail': {
    color: 'var(--text-2)',
    fontStyle: 'normal',
    fontSize: 'var(--text-xs)',
    fontFamily: 'var(--font)',
  },
  '.cm-completionIcon': { color: 'var(--text-3)', opacity: '1' },
  '.cm-tooltip.cm-completionInfo': {
    padding: '0.375rem 0.625rem',
    font: '400 var(--text-xs) / 1.5 var(--font)',
    color: 'var(--text-2)',
  },
});

const colors = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.typeName, tags.bool, tags.null, tags.operatorKeyword],
    color: 'var(--code-keyword)',
  },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  {
    tag: [tags.propertyName, tags.definition(tags.propertyName)],
    color: 'var(--code-name)',
  },
  { tag: tags.special(tags.name), color: 'var(--code-number)', fontWeight: '600' },
]);

export const theme: Extension = [look, syntaxHighlighting(colors)];
