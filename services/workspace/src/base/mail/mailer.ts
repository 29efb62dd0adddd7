/** Mail over SMTP. */
import type { Transporter } from 'nodemailer';

export interface Mail {
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
}

export interface Mailer {
  /** Settles when the server has accepted the mail. @throws Error with a `code`, as Nodemailer names it */
  send(mail: Mail): Promise<void>;
}

export interface MailerOptions {
  /** `smtp://user:password@host:587`, or `smtps:` for TLS from the first byte. */
  readonly url: string;
  /** Address of the sender. */
  readonly from: string;
  /** Whether mail may be sent without TLS to a server that is not on this machine. */
  readonly mayBeUnencrypted: boolean;
  /** Time limit of the connection, the greeting and each answer. */
  readonly timeoutMs: number;
}

/** Nothing on the way can read along, so that a server on this machine may go without TLS. */
const isLoopback = (url: string): boolean =>
  /^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(new URL(url).hostname);

/**
 * Over TLS: from the first byte (`smtps:`), or with STARTTLS, without which nothing is sent, because whoever
 * strips it would get the password and the mails.
 */
export const createMailer = ({ url, from, mayBeUnencrypted, timeoutMs }: MailerOptions): Mailer => {
  const requireTLS = !mayBeUnencrypted && !isLoopback(url);
  let opening: Promise<Transporter> | undefined;
  const open = async (): Promise<Transporter> => {
    // Loaded by the first mail, as many processes never send one.
    const { createTransport } = await import('nodemailer');
    const timeouts = {
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
    };
    // Texts come from users: a mail reads no files and follows no addresses.
    return createTransport({
      url,
      requireTLS,
      ...timeouts,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  };
  return {
    send: async ({ to, subject, text }) => {
      opening ??= open();
      await (await opening).sendMail({ from, to: [...to], subject, text });
    },
  };
};

/** Why a mail was not sent: "ECONNECTION", "EENVELOPE". */
export const mailFailure = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
};
