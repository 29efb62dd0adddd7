import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { callApi, type Session } from '../api-client.ts';
import { messageOf } from '../loading.ts';

/** Asks for a token and proves it before it is kept. */
export const LoginPage = (props: {
  namespace: string;
  onNamespace: (namespace: string) => void;
  onLogin: (session: Session) => void;
}): VNode => {
  const [token, setToken] = useState('');
  const [problem, setProblem] = useState<string>();
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
      <form onSubmit=${submit}>
        ${problem && html`<p role="alert" class="problem">${problem}</p>`}
        <label>
          Namespace (empty: root)
          <input
            name="namespace"
            autocomplete="off"
            value=${props.namespace}
            onChange=${(event: Event) => props.onNamespace(valueOf(event).replaceAll(/^\/+|\/+$/g, ''))}
          />
        </label>
        <label>
          Token
          <input
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
  `;
};
