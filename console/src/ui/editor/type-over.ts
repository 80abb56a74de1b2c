import { EditorView } from '@codemirror/view';

/**
 * Replaces a selection by the typed text. Otherwise Chromium joins the lines and gives them style attributes, which the
 * Content-Security-Policy rejects with an error in the console of the browser.
 */
export const typeOver = EditorView.domEventHandlers({
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
