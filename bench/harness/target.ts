/** A server under load. */
export interface Target {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}
