import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/jetbrains-mono/wght.css';
import './style/token.css';
import './style/base.css';
import './ui/ui.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { applyPreference, readPreference } from './preference.ts';
import { Boundary } from './ui/boundary/boundary.tsx';

applyPreference(readPreference()); // before the first paint
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <Boundary place="console">
      <App />
    </Boundary>
  </StrictMode>,
);
