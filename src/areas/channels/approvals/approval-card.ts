import { randomBytes } from 'node:crypto';

const MAX_TITLE = 200;
const MAX_DETAILS = 1500;
const CUT = '\n… (cut)';
const ALLOW = 'allow';
const DENY = 'deny';
const CODE = /^(allow|deny):([A-Za-z0-9_-]{22})$/;

/** A button under a message. */
export interface CardButton {
  readonly label: string;
  /** `danger` is what refuses. */
  readonly style: 'primary' | 'danger';
  /** What a click brings back unchanged: at most 64 bytes of letters, digits, `:`, `_` and `-`. */
  readonly data: string;
}

/** A message about a tool call, as every platform shows it. All texts are literal: nothing in them is markup. */
export interface ApprovalCard {
  /** One line: which tool waits, or waited. */
  readonly title: string;
  /** The arguments as JSON, to be shown in one font width; cut where they are long. */
  readonly details: string;
  /** What became of it; absent while it waits. */
  readonly outcome?: string;
  /** Empty once nobody can decide any more. */
  readonly buttons: readonly CardButton[];
}

/** What a card says about a call. */
export type CardText = Pick<ApprovalCard, 'title' | 'details'>;

/** @param args must contain no secret that people there may not see */
export function cardText(tool: string, args: string): CardText {
  const title = `The agent wants to call ${tool}.`.slice(0, MAX_TITLE);
  const details = args.length <= MAX_DETAILS ? args : `${args.slice(0, MAX_DETAILS).toWellFormed()}${CUT}`;
  return { title, details };
}

export function newCode(): string {
  return randomBytes(16).toString('base64url');
}

/** The card while the call waits. */
export function openCard({ title, details }: CardText, code: string): ApprovalCard {
  return {
    ...{ title, details },
    buttons: [
      { label: 'Allow', style: 'primary', data: `${ALLOW}:${code}` },
      { label: 'Deny', style: 'danger', data: `${DENY}:${code}` },
    ],
  };
}

/** The card once nobody can decide any more. */
export function closedCard({ title, details }: CardText, outcome: string): ApprovalCard {
  return { title, details, outcome, buttons: [] };
}

export interface ReadClick {
  readonly verdict: 'allowed' | 'denied';
  readonly code: string;
}

/** Undefined for what no button of ours brings back. */
export function readClick(data: string): ReadClick | undefined {
  const [, word, code] = CODE.exec(data) ?? [];
  if (code === undefined) return undefined;
  return { verdict: word === ALLOW ? 'allowed' : 'denied', code };
}

/** What became of a call, for people. Without a name the sentence names nobody. */
export function outcomeText(verdict: 'allowed' | 'denied' | null, by: string | null): string {
  if (verdict === null) return 'Nobody decided: it does not wait any more.';
  const word = verdict === 'allowed' ? 'Allowed' : 'Denied';
  return by === null ? `${word}.` : `${word} by ${by}.`;
}
