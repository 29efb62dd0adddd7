/** The fields that connect an organization to a provider. */
import { useState } from 'react';
import { AgentPoolSelect } from '../agents/agent-pool-select.tsx';
import { addressesOf, PROVIDERS } from './oauth-client.ts';

export const ProviderFields = ({ organization }: { organization: string }) => {
  const [provider, setProvider] = useState('github');
  const { httpUrl, apiUrl } = addressesOf(provider);
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
      <label>
        The provider is reached by
        <AgentPoolSelect organization={organization} name="pool" none="this server" />
      </label>
      <label>
        Access token of the provider, which may read repositories and manage their webhooks
        <input name="token" type="password" required autoComplete="off" />
      </label>
    </>
  );
};
