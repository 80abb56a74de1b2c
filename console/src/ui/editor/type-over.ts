import { EditorView } from '@codemirror/view';

/**
 * Replaces a selection by what is typed. By itself Chromium joins the lines and gives them style attributes, which the
 * Content-Security-Policy refuses with an error in the console of the browser.
 */
export const typeOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { inputType, data } = event;
    const [range] = event.getTargetRanges(); // the editor may not know of the selection yet
    if (inputType !== 'insertText' || data === null || range === undefined || view.composing) return false;
    const from = view.posAtDOM(range.startContainer, range.startOffset);
    const to = view.posAtDOM(range.endContainer, range.endOffset);
    if (from === to) return false;
    view.dispatch({ selection: { anchor: from, head: to } });
    const insert = () => view.state.update(view.state.replaceSelection(data), { userEvent: 'input.type' });
    const handlers = view.state.facet(EditorView.inputHandler);
    if (!handlers.some((handle) => handle(view, from, to, data, insert))) view.dispatch(insert());
    return true;
  },
});
