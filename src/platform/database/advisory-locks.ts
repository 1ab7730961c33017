/** The numbers of the advisory locks that all replicas share, in one place so that no two are alike. */
export const ADVISORY_LOCKS = {
  migrations: 7_193_016_830,
  trimmingLogs: 7_193_016_831,
  forgettingKeys: 7_193_016_832,
  registeringHooks: 7_193_016_833,
  sealingAudit: 7_193_016_834,
  rotatingAssertionKeys: 7_193_016_839,
  changingTokens: 7_193_016_840,
  notingErasedFolders: 7_193_016_841,
} as const;
