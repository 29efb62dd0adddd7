import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { callApi, type Session } from '../api-client.ts';
import { messageOf, useLoaded } from '../loading.ts';
import { ReplicationPage } from '../replication/replication-page.ts';
import { hindranceOf, readHealth } from './cluster-health.ts';

const HEALTH_EVERY_MS = 5_000;

/** Asks for a token and proves it before it is kept. */
export const LoginPage = (props: {
  namespace: string;
  onNamespace: (namespace: string) => void;
  onLogin: (session: Session) => void;
}): VNode => {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string>();
  const { value: health } = useLoaded(readHealth, [], HEALTH_EVERY_MS);
  const hindrance = health && hindranceOf(health);
  const tokenInput = useRef<HTMLInputElement>(null);
  // A token that is pasted as soon as the page is there must not be readable in the field above.
  useEffect(() => tokenInput.current?.focus(), []);
  const login = async (): Promise<void> => {
    const session = { token: token.trim(), namespace: props.namespace };
    try {
      await callApi(session, 'GET', 'auth/token/lookup-self');
      props.onLogin(session);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    void login();
  };
  const valueOf = (event: Event): string => (event.currentTarget as HTMLInputElement).value;
  return html`
    <main class="login card">
      <h1>Keelson</h1>
      ${hindrance && html`<p role="note" class="hindrance">${hindrance}</p>`}
      <form onSubmit=${submit}>
        ${problem && html`<p role="alert" class="problem">${problem}</p>`}
        <label>
          Namespace (empty: root)
          <input
            name="namespace"
            autocomplete="off"
            value=${props.namespace}
            onChange=${(event: Event) => props.onNamespace(valueOf(event).replaceAll(/^\/+|(?<!\/)\/+$/g, ''))}
          />
        </label>
        <label>
          Token
          <input
            ref=${tokenInput}
            name="token"
            type="password"
            autocomplete="off"
            required
            value=${token}
            onInput=${(event: Event) => setToken(valueOf(event))}
          />
        </label>
        <button class="primary">Sign in</button>
      </form>
    </main>
    ${
      health?.replication_dr_mode === 'secondary' &&
      html`<section class="page"><${ReplicationPage} session=${{ token: undefined, namespace: '' }} /></section>`
    }
  `;
};
