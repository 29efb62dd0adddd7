/** Signs the certificate request of an authority below an issuer, which keeps its own key. */
import { useState } from 'react';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Callout } from '../../components/callout.tsx';
import { secretsCurl, vaultCommand } from '../../components/commands.tsx';
import {
  ChoiceLabel,
  FormActions,
  Input,
  Label,
  Pair,
  TextArea,
} from '../../components/fields.tsx';
import { Lifetime } from '../../components/lifetime.tsx';
import { Card } from '../../components/page.tsx';
import { Code } from '../../components/text.tsx';
import { Download } from '../download.tsx';

const FIVE_YEARS = '43800h';

interface Signed {
  readonly certificate: string;
  readonly ca_chain?: readonly string[];
  readonly serial_number: string;
}

export const SignAuthority = ({ mount, id }: { mount: string; id: string }) => {
  const [signed, setSigned] = useState<Signed>();
  const path = `${mount}/issuer/${id}/sign-intermediate`;
  const example = { csr: '…', use_csr_values: true, ttl: FIVE_YEARS };
  return (
    <Card title="Authorities below it">
      <p>
        An authority that is not of this server keeps its key, and sends a certificate request. One
        of this server is certified where its key is.
      </p>
      {signed !== undefined && (
        <Callout role="status" aria-label="Signed">
          <p>
            Signed as <Code>{signed.serial_number}</Code>. The authority that has sent the request
            gets the certificate with its chain.
          </p>
          <Download
            name="authority.pem"
            content={[signed.certificate, ...(signed.ca_chain ?? [])].join('\n')}
            label="certificate and chain"
          />
        </Callout>
      )}
      <FormActions>
        <ActionButton
          label="Sign a certificate request"
          title="Sign the request of an authority"
          confirm="Sign it"
          act={async ({ text, isChecked }) => {
            const { data } = await callSecrets<{ data: Signed }>('POST', path, {
              body: {
                csr: text('csr'),
                ttl: text('ttl'),
                max_path_length: text('max_path_length') || '-1',
                ...(isChecked('takes_subject')
                  ? { use_csr_values: true }
                  : { common_name: text('common_name') }),
              },
            });
            setSigned(data);
          }}
          commands={[
            secretsCurl('POST', path, example),
            vaultCommand(
              `vault write -field=certificate ${path} csr=@authority.csr use_csr_values=true ttl=${FIVE_YEARS}`,
            ),
          ]}
        >
          <p>Whoever has the key of the request then issues certificates that chain to this one.</p>
          <Label>
            Certificate request in PEM
            <TextArea name="csr" isCode rows={6} required spellCheck={false} />
          </Label>
          <ChoiceLabel>
            <input type="checkbox" name="takes_subject" defaultChecked /> With the subject and the
            names of the request
          </ChoiceLabel>
          <Pair>
            <Label>
              Name, where the request's is not taken
              <Input name="common_name" autoComplete="off" />
            </Label>
            <Lifetime name="ttl" label="Valid for" value={FIVE_YEARS} required />
            <Label>
              Authorities that may follow below it (empty: any number)
              <Input name="max_path_length" autoComplete="off" pattern="\d*" inputMode="numeric" />
            </Label>
          </Pair>
        </ActionButton>
      </FormActions>
    </Card>
  );
};
