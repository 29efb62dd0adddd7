/** An audit device: a destination to which the gateway writes an entry per request and per response. */

import { KeelsonError } from '@keelson/errors';
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

export const auditDeviceTypeShape = Type.Enum(['file', 'socket']);
export type AuditDeviceType = Shaped<typeof auditDeviceTypeShape>;

export const auditDeviceRecordShape = Type.Object({
  /** With a trailing slash: "file/". */
  path: Type.String(),
  type: auditDeviceTypeShape,
  description: Type.String(),
  options: Type.Record(Type.String(), Type.String()),
  local: Type.Boolean(),
  accessor: Type.String(),
  /** Key of the HMACs in this device's entries; base64. It never changes while the device exists. */
  salt: Type.String(),
});
export type AuditDeviceRecord = Shaped<typeof auditDeviceRecordShape>;

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const COMMON = ['format', 'prefix', 'hmac_accessor', 'log_raw', 'elide_list_responses'];
const OPTIONS: Readonly<Record<AuditDeviceType, readonly string[]>> = {
  file: ['file_path', 'path', 'mode', ...COMMON],
  socket: ['address', 'socket_type', 'write_timeout', ...COMMON],
};
/** Vendor options that omit or divert entries. Accepting them without effect would be misleading. */
const UNSUPPORTED_OPTIONS = ['fallback', 'filter', 'exclude'];
const BOOLEAN_OPTIONS = ['hmac_accessor', 'log_raw', 'elide_list_responses'];
const MAX_PREFIX_LENGTH = 64;

/** @throws KeelsonError `request.invalid` */
export const requireAuditDeviceType = (type: string): AuditDeviceType => {
  if (type === 'file' || type === 'socket') return type;
  return refuse(
    type === '' ? 'backend type must be specified as a string' : `unknown backend type: "${type}"`,
  );
};

/** "/file//" -> "file/". @throws KeelsonError `request.invalid` */
export const requireAuditPath = (given: string): string => {
  const path = `${given
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')}/`;
  return /^[\w.-]+(\/[\w.-]+)*\/$/.test(path) && path.length <= 256
    ? path
    : refuse('an audit path consists of letters, digits and the characters _ - . /');
};

/** The file that a file device writes; `path` is the older name of the option. */
export const auditFilePath = (options: Readonly<Record<string, string>>): string =>
  options['file_path'] ?? options['path'] ?? '';

/**
 * The file is written by Keelson's own user, so a caller who names it must not be able to have it
 * executed or to replace a system file: the path is absolute without "..", the mode is never
 * executable, and the prefix is no script header. The gateway, which writes the file, also checks
 * folders and links on its machine.
 */
const requireFileOptions = (options: Readonly<Record<string, string>>): void => {
  if (options['file_path'] !== undefined && options['path'] !== undefined)
    refuse('path is the older name of file_path; only one of them may be given');
  const path = auditFilePath(options);
  if (path === '') refuse('file_path is required');
  if (path === 'stdout' || path === 'discard') return;
  if (!/^\/[\x20-\x7e]+[^/]$/.test(path) || path.split('/').some((s) => s === '..' || s === '.'))
    refuse('file_path must be an absolute path without "." and ".." segments');
  if (/^\/(proc|sys|dev|etc|boot|bin|sbin|usr|lib\w*)\//.test(path))
    refuse('file_path must not be in a system directory');
  const mode = options['mode'] ?? '0600';
  if (!/^0?[0-7]{3,4}$/.test(mode)) refuse('mode must be an octal number');
  if ((Number.parseInt(mode, 8) & 0o7111) !== 0) refuse('mode must not make the file executable');
};

const requireSocketOptions = (options: Readonly<Record<string, string>>): void => {
  if ((options['address'] ?? '') === '') refuse('address is required');
  // UDP does not report whether a datagram was accepted.
  if (!['tcp', 'unix'].includes(options['socket_type'] ?? 'tcp'))
    refuse('socket_type must be tcp or unix');
};

/** @throws KeelsonError `request.invalid` */
export const requireAuditOptions = (
  type: AuditDeviceType,
  options: Readonly<Record<string, string>>,
): void => {
  for (const name of Object.keys(options)) {
    if (UNSUPPORTED_OPTIONS.includes(name))
      refuse(`option "${name}" is not supported: every device records every entry`);
    if (!OPTIONS[type].includes(name)) refuse(`unknown option "${name}" of a ${type} audit device`);
  }
  if ((options['format'] ?? 'json') !== 'json') refuse('format must be json');
  for (const name of BOOLEAN_OPTIONS)
    if (!['true', 'false'].includes(options[name] ?? 'false'))
      refuse(`${name} must be true or false`);
  const prefix = options['prefix'] ?? '';
  if (!/^[\x20-\x7e]*$/.test(prefix) || prefix.length > MAX_PREFIX_LENGTH || prefix.includes('#!'))
    refuse(`prefix has at most ${MAX_PREFIX_LENGTH} printable characters and no "#!"`);
  if (type === 'file') requireFileOptions(options);
  else requireSocketOptions(options);
};
