/** The fields that connect an organization to a provider. */
import { useState } from 'react';
import { AgentPoolSelect } from '../agents/agent-pool-select.tsx';
import { addressesOf, hasKeyPairs, PROVIDERS } from './oauth-client.ts';

/** The application link with a provider, of which an administrator of the provider knows the public part. */
const KeyPairFields = () => (
  <>
    <label>
      Consumer key of the application link
      <input name="key" required autoComplete="off" />
    </label>
    <label>
      Private key (PEM)
      <textarea name="secret" required autoComplete="off" spellCheck={false} />
    </label>
    <label>
      Public key (PEM)
      <textarea name="rsa-public-key" required autoComplete="off" spellCheck={false} />
    </label>
    <p>You are sent to the provider on the next page, to allow the access.</p>
  </>
);

export const ProviderFields = ({ organization }: { organization: string }) => {
  const [provider, setProvider] = useState('github');
  const [wantsKeyPair, setWantsKeyPair] = useState(false);
  const { httpUrl, apiUrl } = addressesOf(provider);
  const isKeyPair = wantsKeyPair && hasKeyPairs(provider);
  return (
    <>
      <label>
        Provider
        <select
          name="provider"
          value={provider}
          onChange={({ target }) => setProvider(target.value)}
        >
          {Object.entries(PROVIDERS).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        Name
        <input name="name" required autoComplete="off" />
      </label>
      <label>
        Address
        <input name="http-url" type="url" required key={provider} defaultValue={httpUrl} />
      </label>
      <label>
        Address of the API
        <input name="api-url" type="url" required key={provider} defaultValue={apiUrl} />
      </label>
      {hasKeyPairs(provider) && (
        <label>
          Authorized with
          <select
            value={isKeyPair ? 'key pair' : 'token'}
            onChange={({ target }) => setWantsKeyPair(target.value === 'key pair')}
          >
            <option value="token">an access token</option>
            <option value="key pair">a key pair (application link)</option>
          </select>
        </label>
      )}
      {isKeyPair ? (
        <KeyPairFields />
      ) : (
        <>
          <label>
            The provider is reached by
            <AgentPoolSelect organization={organization} name="pool" none="this server" />
          </label>
          <label>
            Access token of the provider, which may read repositories and manage their webhooks
            <input name="token" type="password" required autoComplete="off" />
          </label>
        </>
      )}
    </>
  );
};
