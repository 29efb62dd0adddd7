/** The fields that connect an organization to a provider. */
import { useState } from 'react';
import { AgentPoolSelect } from '../agents/agent-pool-select.tsx';
import { Input, Label, SelectField, TextArea } from '../components/fields.tsx';
import { addressesOf, hasKeyPairs, PROVIDERS } from './oauth-client.ts';

/** The application link with a provider, of which an administrator of the provider knows the public part. */
const KeyPairFields = () => (
  <>
    <Label>
      Consumer key of the application link
      <Input name="key" required autoComplete="off" />
    </Label>
    <Label>
      Private key (PEM)
      <TextArea name="secret" required autoComplete="off" spellCheck={false} />
    </Label>
    <Label>
      Public key (PEM)
      <TextArea name="rsa-public-key" required autoComplete="off" spellCheck={false} />
    </Label>
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
      <Label>
        Provider
        <SelectField
          name="provider"
          value={provider}
          onChange={({ target }) => setProvider(target.value)}
        >
          {Object.entries(PROVIDERS).map(([name, { title }]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Name
        <Input name="name" required autoComplete="off" />
      </Label>
      <Label>
        Address
        <Input name="http-url" type="url" required key={provider} defaultValue={httpUrl} />
      </Label>
      <Label>
        Address of the API
        <Input name="api-url" type="url" required key={provider} defaultValue={apiUrl} />
      </Label>
      {hasKeyPairs(provider) && (
        <Label>
          Authorized with
          <SelectField
            value={isKeyPair ? 'key pair' : 'token'}
            onChange={({ target }) => setWantsKeyPair(target.value === 'key pair')}
          >
            <option value="token">an access token</option>
            <option value="key pair">a key pair (application link)</option>
          </SelectField>
        </Label>
      )}
      {isKeyPair ? (
        <KeyPairFields />
      ) : (
        <>
          <Label>
            The provider is reached by
            <AgentPoolSelect organization={organization} name="pool" none="this server" />
          </Label>
          <Label>
            Access token of the provider, which may read repositories and manage their webhooks
            <Input name="token" type="password" required autoComplete="off" />
          </Label>
        </>
      )}
    </>
  );
};
