import '../style/token.css';
import 'swagger-ui-dist/swagger-ui.css';
import './docs.css';
import SwaggerUIBundle from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { readKey } from '../api/session.ts';
import { readPreference, showTheme } from '../stored-preference.ts';
import { listOnce, type OpenApi } from './list-once.ts';

const form = getElement('key-form', HTMLFormElement);
const input = getElement('key', HTMLInputElement);
const state = getElement('key-state', HTMLOutputElement);
let key = readKey() ?? '';

/** Applies the console's theme; `dark-mode` is the class of Swagger UI's dark style. */
function showColors(): void {
  document.documentElement.classList.toggle('dark-mode', showTheme(readPreference().theme));
}

/** Renders the reference of the key's endpoints; without a key, of the common routes. */
async function show(): Promise<void> {
  const response = await read();
  if (response === undefined) {
    state.textContent = 'The service could not be reached.';
    return;
  }
  if (!response.ok) {
    state.textContent =
      response.status === 401
        ? 'This key is not accepted.'
        : `The service responded with ${response.status}.`;
    if (key === '') return;
    key = '';
    return await show();
  }
  if (key !== '') state.textContent = 'With the endpoints of your key.';
  SwaggerUIBundle({
    spec: listOnce((await response.json()) as OpenApi),
    domNode: getElement('reference', HTMLElement),
    deepLinking: true,
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    docExpansion: 'list',
    // Otherwise a validator on another host would receive this document.
    validatorUrl: null,
    // People share the curl command, so it must not contain the key.
    showMutatedRequest: false,
    requestInterceptor(request: { headers: Record<string, string> }) {
      if (key !== '') request.headers['X-API-KEY'] ??= key;
      return request;
    },
  });
}

/** `undefined` if the service cannot be reached, or the key has characters that a header cannot carry. */
async function read(): Promise<Response | undefined> {
  try {
    return await fetch('/openapi.json', { headers: key === '' ? {} : { 'x-api-key': key } });
  } catch {
    return undefined;
  }
}

showColors();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showColors);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  key = input.value.trim();
  state.textContent = '';
  void show();
});
void show();

function getElement<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new Error(`the page has no ${id}`);
}
