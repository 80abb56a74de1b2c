import { type ComponentProps, type KeyboardEvent, Suspense, useLayoutEffect, useRef, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation, useParams, useSearch } from 'wouter';
import type { Me } from '../../src/management/view.ts';
import { ENDPOINTS_EVERY_MS, queries, useClient, useFiring, useRead } from './api/queries.ts';
import { isOfferedTo, PAGES, type Page } from './page.ts';
import { usePreference } from './preference.ts';
import { Select } from './ui/form.tsx';
import { Button, Empty, ErrorNote, Mark, nameWindow, QuietButton, Segmented, Tag } from './ui/page-part.tsx';
import './shell.css';
import { Boundary } from './ui/boundary/boundary.tsx';
import { useLeaveOnEscape } from './ui/field-key.ts';

interface ShellProps {
  readonly onSignIn: () => void;
  readonly onSignOut: () => void;
  readonly onChoose: (choices: Readonly<Record<string, string>>) => void;
}

export function Shell(props: ShellProps) {
  const [open, setOpen] = useState(false);
  const menu = useRef<HTMLButtonElement>(null);
  const [path] = useLocation();
  const search = useSearch();
  useLeaveOnEscape();
  const onKeyDown = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape' || !open) return;
    setOpen(false);
    menu.current?.focus();
  };
  return (
    <div className="shell">
      <a className="shell-skip" href="#content">
        Skip to the content
      </a>
      <header className="shell-bar">
        <Link href="/" className="shell-brand">
          <Mark />
          Tailrace
        </Link>
        <Button
          className="shell-menu"
          ref={menu}
          aria-expanded={open}
          aria-controls="side"
          onClick={() => setOpen(!open)}
        >
          Menu
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what the menu button opens */}
      <div id="side" className={open ? 'shell-side is-open' : 'shell-side'} onKeyDown={onKeyDown}>
        <Boundary place="navigation">
          <Navigation onGo={() => setOpen(false)} />
        </Boundary>
        <Preferences {...props} />
      </div>
      <main id="content" tabIndex={-1}>
        {/* The navigation stays if a page fails; another address is tried anew. */}
        <Boundary place={`${path}?${search}`}>
          <Pages />
        </Boundary>
      </main>
    </div>
  );
}

function Pages() {
  const { self } = useClient();
  const first = offeredTo(self).find(({ title }) => title !== '');
  return (
    <Suspense fallback={<p className="muted">Loading…</p>}>
      <Switch>
        {PAGES.map((page) => (
          <Route key={page.path} path={page.path}>
            {isOfferedTo(page, self) ? (
              <Titled page={page} />
            ) : page.path === '/' && first !== undefined ? (
              <Redirect to={first.path} replace />
            ) : (
              <Empty title="This key may not see this page" isPage>
                Its scopes: {self.scopes.join(', ') || 'none'}. This page needs{' '}
                {[page.scopes].flat().join(' or ')}
                {page.needs && `, of a key ${page.needs.text}`}.
              </Empty>
            )}
          </Route>
        ))}
        <Route>
          <Empty title="Page not found" isPage>
            Choose one from the navigation, or go to the <Link href="/">overview</Link>.
          </Empty>
        </Route>
      </Switch>
    </Suspense>
  );
}

/** A page, its name in the title of the window. Effects of a page that names more come after it. */
function Titled({ page }: { readonly page: Page }) {
  const { name = 'Tailrace' } = useParams();
  useLayoutEffect(() => nameWindow(page.title || name), [page, name]);
  return <page.component />;
}

function Navigation({ onGo }: { readonly onGo: () => void }) {
  const { self } = useClient();
  const { scopes } = self;
  const mayList = scopes.includes('query') || scopes.includes('manage');
  const { value, error } = useRead(queries.endpoints, { isWanted: mayList, everyMs: ENDPOINTS_EVERY_MS });
  const firing = useFiring().length;
  return (
    <nav aria-label="Console">
      <ul className="shell-pages">
        {offeredTo(self).map((page) =>
          page.title === '' ? null : (
            <NavItem
              key={page.path}
              href={page.path}
              label={page.title}
              firing={page.path === '/alerts' ? firing : 0}
              onGo={onGo}
            />
          ),
        )}
      </ul>
      {mayList && <h2>Endpoints</h2>}
      {error !== undefined && <ErrorNote error={error} />}
      <ul>
        {value?.result.map(({ name }) => (
          <NavItem key={name} href={`/endpoints/${name}`} label={name} onGo={onGo} />
        ))}
      </ul>
      {value?.result.length === 0 && <p className="small muted">This key may read none.</p>}
    </nav>
  );
}

function offeredTo(self: Me): readonly Page[] {
  return PAGES.filter((page) => isOfferedTo(page, self));
}

function NavItem(props: Readonly<{ href: string; label: string; firing?: number; onGo: () => void }>) {
  const { href, label, firing = 0, onGo } = props;
  const [location] = useLocation();
  const isWithin = href !== '/' && location.startsWith(`${href}/`);
  return (
    <li>
      <Link href={href} aria-current={location === href ? 'page' : isWithin || undefined} onClick={onGo}>
        {label}
        {firing > 0 && (
          <>
            {' '}
            <Tag tone="bad">
              {firing}
              <span className="visually-hidden"> firing</span>
            </Tag>
          </>
        )}
      </Link>
    </li>
  );
}

const THEMES = { system: 'Auto', light: 'Light', dark: 'Dark' } as const;
const ZONES = { local: 'Local', utc: 'UTC' } as const;

function Preferences({ onSignIn, onSignOut, onChoose }: ShellProps) {
  const { self } = useClient();
  const { preference, change } = usePreference();
  return (
    <section className="preferences" aria-label="Preferences">
      <Choice
        label="Times"
        options={ZONES}
        selected={preference.zone}
        onSelect={(zone) => change({ zone })}
      />
      <Choice
        label="Colours"
        options={THEMES}
        selected={preference.theme}
        onSelect={(theme) => change({ theme })}
      />
      {Object.entries(self.choices).map(([name, values]) =>
        values.length < 2 ? null : (
          <label className="preference" key={name}>
            <span>{name}</span>
            <Select
              value={self.pins[name]}
              options={values}
              onChange={(value) => onChoose({ [name]: value })}
            />
          </label>
        ),
      )}
      <div className="preference">
        {self.id === '' ? (
          <>
            <span>No key</span>
            <QuietButton onClick={onSignIn}>Sign in</QuietButton>
          </>
        ) : (
          <>
            <Link href="/sessions" title={self.scopes.join(', ')}>
              {self.kind === 'person' ? (
                self.name
              ) : (
                <>
                  Key <code>{self.id}</code>
                </>
              )}
            </Link>
            <QuietButton onClick={onSignOut}>Sign out</QuietButton>
          </>
        )}
      </div>
    </section>
  );
}

function Choice<T extends string>(props: ComponentProps<typeof Segmented<T>>) {
  return (
    <div className="preference">
      <span>{props.label}</span>
      <Segmented {...props} />
    </div>
  );
}
