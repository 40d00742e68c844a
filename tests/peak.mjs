// The most memory that this process has had, in MB.
import { existsSync, readFileSync } from "node:fs";

/** From /proc where that is: `maxRSS` begins there with what the process had that started this one. */
export function peak() {
  const status = "/proc/self/status";
  const line = existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, "utf8"));
  return (line ? Number(line[1]) : process.resourceUsage().maxRSS) >> 10;
}
