import {
  autocompletion,
  type Completion,
  type CompletionContext,
  closeBrackets,
  closeBracketsKeymap,
  closeCompletion,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { SQLDialect } from '@codemirror/lang-sql';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, indentOnInput, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { Annotation, type Extension, type Text } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tagHighlighter, tags } from '@lezer/highlight';
import { type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { ApiError } from '../../api/client.ts';
import { KEYWORDS, NO_WORDS, suggest, TYPES, type Vocabulary } from './completion.ts';
import style from './theme.css?inline';

const fromOutside = Annotation.define<true>();

export interface EditorProps {
  readonly language: 'sql' | 'yaml';
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** Called on Ctrl+Enter, Cmd+Enter on a Mac. */
  readonly onRun: () => void;
  readonly faults?: readonly Fault[];
  readonly words?: Vocabulary | undefined;
  readonly ref?: Ref<EditorHandle>;
}

export interface EditorHandle {
  goTo(fault: Fault): void;
}

/** Without a line it concerns the whole text, without a column the whole line. */
export type Fault = Pick<ApiError['errors'][number], 'message' | 'line' | 'column'>;

/** An editor in a shadow root: in a document CodeMirror adds `<style>`, which the Content-Security-Policy rejects. */
export function CodeMirror(props: EditorProps) {
  const { language, label, value, faults, ref } = props;
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [view, setView] = useState<EditorView>();

  useLayoutEffect(() => {
    if (host.current === null) return;
    const created = createView(host.current, { language, label }, () => latest.current);
    setView(created);
    return () => created.destroy();
  }, [language, label]);

  useLayoutEffect(() => {
    const doc = view?.state.doc;
    if (doc === undefined || doc.toString() === value) return;
    const changes = { from: 0, to: doc.length, insert: value };
    view?.dispatch({ changes, annotations: fromOutside.of(true) });
  }, [view, value]);
  useEffect(() => {
    const marks = (faults ?? []).flatMap((fault): Diagnostic[] => {
      const place = view && placeOf(view.state.doc, fault);
      return place === undefined ? [] : [{ ...place, severity: 'error', message: fault.message }];
    });
    view?.dispatch(setDiagnostics(view.state, marks));
  }, [view, faults]);
  useImperativeHandle(
    ref,
    () => ({
      goTo(fault) {
        const place = view && placeOf(view.state.doc, fault);
        if (place !== undefined) view?.dispatch({ selection: { anchor: place.from }, scrollIntoView: true });
        view?.focus();
      },
    }),
    [view],
  );
  return <div className="editor" ref={host} />;
}

type Look = Pick<EditorProps, 'language' | 'label'>;

function createView(host: HTMLElement, look: Look, latest: () => EditorProps): EditorView {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet]; // CodeMirror puts its own before it
  return new EditorView({
    root,
    parent: root,
    doc: latest().value,
    extensions: createExtensions(look, latest),
  });
}

function createExtensions({ language, label }: Look, latest: () => EditorProps): Extension {
  const run = (view: EditorView) => {
    closeCompletion(view);
    latest().onRun();
    return true;
  };
  return [
    language === 'sql' ? completing(() => latest().words ?? NO_WORDS) : [],
    lineNumbers(),
    lintGutter(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    bracketMatching(),
    closeBrackets(),
    indentOnInput(),
    typeOver,
    language === 'sql' ? clickhouse.language : yaml(),
    syntaxHighlighting(codes),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0', spellcheck: 'false' }),
    EditorView.updateListener.of((update) => {
      const isOwn = update.transactions.some((one) => one.annotation(fromOutside) === true);
      // At once: a value that is rendered later would undo what was typed since.
      if (update.docChanged && !isOwn) flushSync(() => latest().onChange(update.state.doc.toString()));
    }),
    // Tab is left to the browser, so the keyboard is never trapped; Ctrl+[ and Ctrl+] indent.
    keymap.of([
      { key: 'Mod-Enter', run },
      ...closeBracketsKeymap,
      ...historyKeymap,
      ...lintKeymap,
      ...defaultKeymap,
    ]),
  ];
}

// All of them fit: a list that scrolls would need the focus.
const OPTIONS_MAX = 10;

function completing(words: () => Vocabulary): Extension {
  const source = ({ state, pos, explicit }: CompletionContext) => {
    const { from, options } = suggest(state.doc.toString(), pos, words());
    const isWanted = explicit || from < pos || state.sliceDoc(from - 1, from) === '.';
    if (!isWanted || QUOTED.has(syntaxTree(state).resolveInner(pos, -1).name)) return null;
    return { from, options: options.map(withCall), validFor: /^@?\w*$/ };
  };
  return autocompletion({ override: [source], maxRenderedOptions: OPTIONS_MAX });
}

/** A function is inserted with brackets, and the cursor between them. */
function withCall(option: Completion): Completion {
  if (option.type !== 'function') return option;
  const apply = (view: EditorView, { label }: Completion, from: number, to: number) => {
    const hasBracket = view.state.sliceDoc(to, to + 1) === '(';
    view.dispatch({
      changes: { from, to, insert: hasBracket ? label : `${label}()` },
      selection: { anchor: from + label.length + 1 },
      userEvent: 'input.complete',
    });
  };
  return { ...option, apply };
}

/** The place to mark for a fault: its word, or its line without the indentation; undefined: the fault has no place. */
function placeOf(doc: Text, { line, column }: Fault): { from: number; to: number } | undefined {
  if (line === undefined) return undefined;
  const { from: start, text } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  if (column === undefined) {
    const indent = text.length - text.trimStart().length;
    return { from: start + indent, to: start + Math.max(indent, text.trimEnd().length) };
  }
  const at = Math.min(Math.max(column - 1, 0), Math.max(text.length - 1, 0));
  const [word = ''] = /^@?\w+|^./u.exec(text.slice(at)) ?? [];
  return { from: start + at, to: start + at + word.length };
}

/** Replaces a selection itself: Chromium would add style attributes, which the Content-Security-Policy rejects. */
const typeOver = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const { state } = view;
    const { from, to, empty } = state.selection.main;
    if (inputType !== 'insertText' || data === null || empty || view.composing) return false;
    const insert = () => state.update(state.replaceSelection(data), { userEvent: 'input.type' });
    const handlers = state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});

const codes = tagHighlighter([
  {
    tag: [tags.keyword, tags.typeName, tags.bool, tags.null, tags.operatorKeyword],
    class: 'cm-code-keyword',
  },
  { tag: [tags.string, tags.special(tags.string)], class: 'cm-code-string' },
  { tag: tags.number, class: 'cm-code-number' },
  { tag: tags.comment, class: 'cm-code-comment' },
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], class: 'cm-code-name' },
  { tag: tags.special(tags.name), class: 'cm-code-parameter' },
]);

const clickhouse = SQLDialect.define({
  keywords: KEYWORDS.join(' ').toLowerCase(),
  types: TYPES.join(' ').toLowerCase(),
  backslashEscapes: true,
  identifierQuotes: '"`',
  operatorChars: '*+-%<>!=&|^/?:',
  specialVar: '@',
});

/** Nodes of the syntax tree in which nothing is completed. */
const QUOTED = new Set(['String', 'LineComment', 'BlockComment', 'QuotedIdentifier']);
