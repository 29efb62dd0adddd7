/** The console: who is signed in, and which page the address names. */
import { html } from 'htm/preact';
import { render, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Session } from './api-client.ts';
import { MessagesPage } from './messages/messages-page.ts';
import { ShownMessages } from './messages/shown-messages.ts';
import { ReplicationPage } from './replication/replication-page.ts';
import { keepSession, keptSession } from './session/kept-session.ts';
import { LoginPage } from './session/login-page.ts';

const PAGES = {
  messages: { title: 'Custom messages', page: MessagesPage },
  replication: { title: 'Replication', page: ReplicationPage },
} as const;

type PageName = keyof typeof PAGES;

const pageNamedBy = (hash: string): PageName =>
  hash.slice(1) in PAGES ? (hash.slice(1) as PageName) : 'messages';

const usePageName = (): PageName => {
  const [name, setName] = useState(pageNamedBy(location.hash));
  useEffect(() => {
    const follow = (): void => setName(pageNamedBy(location.hash));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return name;
};

const App = (): VNode => {
  const [session, setSession] = useState(keptSession);
  const name = usePageName();
  const change = (next: Session): void => {
    keepSession(next);
    setSession(next);
  };
  useEffect(() => {
    document.title =
      session.token === undefined ? 'Sign in · Keelson' : `${PAGES[name].title} · Keelson`;
  }, [session.token === undefined, name]);
  if (session.token === undefined)
    return html`
      <${ShownMessages} key="before" session=${session} />
      <${LoginPage}
        namespace=${session.namespace}
        onNamespace=${(namespace: string) => change({ ...session, namespace })}
        onLogin=${change}
      />
    `;
  const { page } = PAGES[name];
  return html`
    <nav class="top" aria-label="Pages">
      <strong>Keelson</strong>
      ${Object.entries(PAGES).map(
        ([key, { title }]) =>
          html`<a key=${key} href=${`#${key}`} aria-current=${key === name ? 'page' : undefined}>${title}</a>`,
      )}
      <a href="/docs">API</a>
      <span class="space"></span>
      <span>${session.namespace === '' ? 'root namespace' : session.namespace}</span>
      <button type="button" class="plain" onClick=${() => change({ ...session, token: undefined })}>
        Sign out
      </button>
    </nav>
    <${ShownMessages} key="after" session=${session} />
    <main><${page} key=${name} session=${session} /></main>
  `;
};

render(html`<${App} />`, document.body);
