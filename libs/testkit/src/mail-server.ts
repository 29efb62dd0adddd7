/** An SMTP server that stores the mails it receives. */
import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface MailServer extends AsyncDisposable {
  readonly url: string;
  /** Received mails, including headers. */
  readonly mails: string[];
  /** The mail of this number, from 0, once it has been received. */
  readonly mail: (number: number) => Promise<string>;
  /** Whether mails are accepted; initially true. */
  accepts: boolean;
}

export const startMailServer = async (): Promise<MailServer> => {
  const mails: string[] = [];
  const received = new EventEmitter();
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      let text = '';
      stream
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('end', () => {
          if (started.accepts) {
            mails.push(text);
            received.emit('mail');
          }
          done(started.accepts ? null : new Error('the mailbox is full'));
        });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const started: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    mail: async (number) => {
      for (;;) {
        const mail = mails[number];
        if (mail !== undefined) return mail;
        await once(received, 'mail');
      }
    },
    accepts: true,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(resolve)),
  };
  return started;
};
