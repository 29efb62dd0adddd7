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
  /** Time limit of the connection, the greeting and each answer. */
  readonly timeoutMs: number;
}

export const createMailer = ({ url, from, timeoutMs }: MailerOptions): Mailer => {
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
    return createTransport({ url, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
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
