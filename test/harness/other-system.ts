/** Makes this system look like another one until the returned function is called. */
export function pretendSystem(
  platform: NodeJS.Platform,
  arch: NodeJS.Architecture = process.arch,
): () => void {
  const before = Object.getOwnPropertyDescriptors(process);
  Object.defineProperty(process, 'platform', { ...before.platform, value: platform });
  Object.defineProperty(process, 'arch', { ...before.arch, value: arch });
  return () => {
    Object.defineProperty(process, 'platform', before.platform);
    Object.defineProperty(process, 'arch', before.arch);
  };
}
