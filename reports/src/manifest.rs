//! Manifests: a campaign over many machines, as an engine that exists runs it. Each is a file of the folder `manifest`,
//! with `@names@` in it that are filled in.
//!
//! A shard that found something ends well, as its results are what counts: the merge has the verdict. Only a shard that
//! could not run ends badly.

use seedbed_model::Span;

/// Ends a shard well if it ran: exit codes from 10 on are findings, and are in its results; from 100 on something ended
/// the command.
const CODE: &str = "code=$?; test \"$code\" -eq 0 || { test \"$code\" -ge 10 && test \"$code\" -lt 100; }";

/// A campaign for an engine.
#[derive(Debug, Clone, Copy)]
pub struct Campaign<'a> {
    /// How many shards.
    pub shards: u64,
    /// The line that runs a shard, which stands in it as `$shard`. No line break.
    pub run: &'a str,
    /// The line that merges `shard-*.json`, to which flags are added. No line break.
    pub merge: &'a str,
}

impl Campaign<'_> {
    /// The manifest: each name of the campaign's, or of `more`, where it stands in the template.
    fn fill(&self, template: &str, more: &[(&str, &str)]) -> String {
        let shards = self.shards.to_string();
        let own = [("shards", shards.as_str()), ("run", self.run), ("merge", self.merge), ("code", CODE)];
        let value = |name: &str| own.iter().chain(more).find(|(other, _)| *other == name).map(|(_, value)| *value);
        let (mut text, mut rest) = (String::new(), template);
        while let Some((before, behind)) = rest.split_once('@') {
            text.push_str(before);
            let filled = behind.split_once('@').and_then(|(name, after)| Some((value(name)?, after)));
            let (piece, after) = filled.unwrap_or(("@", behind));
            text.push_str(piece);
            rest = after;
        }
        text + rest
    }
}

/// An Indexed Job for the shards and a Job that merges once they have all written, or after `wait` what there is. `image`
/// has the command in it, `claim` is a volume that all of them may write.
pub fn kubernetes(campaign: &Campaign<'_>, image: &str, claim: &str, wait: Span) -> String {
    let seconds = wait.0.div_ceil(1_000_000_000).to_string();
    let more = [("image", &*quoted(image)), ("claim", &*quoted(claim)), ("wait", &*seconds)];
    campaign.fill(include_str!("manifest/kubernetes.yaml"), &more)
}

/// A workflow with a matrix of shards and a job that merges, with annotations and a summary.
pub fn github(campaign: &Campaign<'_>) -> String {
    let numbers: Vec<String> = (1..=campaign.shards).map(|shard| shard.to_string()).collect();
    campaign.fill(include_str!("manifest/github.yaml"), &[("numbers", &numbers.join(", "))])
}

/// A pipeline with parallel shards and a job that merges.
pub fn gitlab(campaign: &Campaign<'_>, image: &str) -> String {
    campaign.fill(include_str!("manifest/gitlab.yaml"), &[("image", &quoted(image))])
}

/// A script: started by hand it submits itself as an array of shards, and a job that merges after them.
pub fn slurm(campaign: &Campaign<'_>) -> String {
    campaign.fill(include_str!("manifest/slurm.sh"), &[])
}

/// A text as a scalar of YAML.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_yaml_ng::Value;

    const CAMPAIGN: Campaign<'_> = Campaign {
        shards: 3,
        run: "seedbed run 'a b' --shard $shard/3 --json shard-$shard.json",
        merge: "seedbed merge shard-*.json --json merged.json",
    };

    fn text(value: &Value) -> &str {
        value.as_str().unwrap_or_else(|| panic!("no text: {value:?}"))
    }

    fn documents(manifest: &str) -> Vec<Value> {
        manifest.split("---\n").map(|part| serde_yaml_ng::from_str(part).unwrap()).collect()
    }

    #[test]
    fn kubernetes_runs_an_indexed_job_and_merges() {
        let found = documents(&kubernetes(&CAMPAIGN, "registry/seed:1", "it's", Span::secs(90)));
        let [shards, merge] = found.as_slice() else { panic!("two jobs") };
        assert_eq!(shards["spec"]["completionMode"], "Indexed");
        assert_eq!((&shards["spec"]["completions"], &shards["spec"]["parallelism"]), (&3.into(), &3.into()));
        let pod = |job: &Value| job["spec"]["template"]["spec"].clone();
        let container = &pod(shards)["containers"][0];
        assert_eq!(container["image"], "registry/seed:1");
        assert_eq!(container["volumeMounts"][0]["mountPath"], container["workingDir"]);
        let lines: Vec<&str> = text(&container["command"][2]).lines().collect();
        assert_eq!(lines[..2], ["shard=$((JOB_COMPLETION_INDEX + 1))", CAMPAIGN.run]);
        let merging = pod(merge)["containers"][0]["command"][2].clone();
        let merging = text(&merging);
        assert!(merging.lines().last().is_some_and(|line| line.starts_with(CAMPAIGN.merge)), "{merging}");
        assert!(merging.contains("-lt 3 && test \"$waited\" -lt 90;"), "{merging}");
        assert_eq!(pod(merge)["volumes"][0]["persistentVolumeClaim"]["claimName"], "it's");
        assert!(
            merge["spec"]["backoffLimit"] == 0 && pod(merge)["restartPolicy"] == "Never",
            "a finding is not tried again"
        );
    }

    #[test]
    fn github_runs_a_matrix_and_merges() {
        let workflow = &documents(&github(&CAMPAIGN))[0];
        assert_eq!(workflow["env"]["SEEDBED_REVISION"], "${{ github.sha }}");
        let found = &workflow["jobs"];
        assert_eq!(found["shard"]["steps"][0]["uses"], "actions/checkout@v4");
        assert_eq!(found["shard"]["strategy"]["matrix"]["shard"], Value::from(vec![1, 2, 3]));
        assert_eq!(found["shard"]["env"]["shard"], "${{ matrix.shard }}");
        assert!(text(&found["shard"]["steps"][1]["run"]).contains(CAMPAIGN.run));
        assert_eq!(found["shard"]["steps"][2]["with"]["path"], "shard-${{ matrix.shard }}.json");
        assert_eq!(found["merge"]["needs"], "shard");
        let merging = text(&found["merge"]["steps"][2]["run"]);
        assert!(merging.starts_with(CAMPAIGN.merge), "{merging}");
        assert!(merging.trim_end().ends_with("--github --step-summary \"$GITHUB_STEP_SUMMARY\""), "{merging}");
    }

    #[test]
    fn gitlab_runs_in_parallel_and_merges() {
        let found = &documents(&gitlab(&CAMPAIGN, "rust"))[0];
        assert_eq!(found["shard"]["parallel"], 3);
        assert!(text(&found["shard"]["script"][0]).starts_with("shard=$CI_NODE_INDEX\n"));
        assert!(text(&found["shard"]["script"][0]).contains(CAMPAIGN.run));
        assert!(text(&found["merge"]["script"][0]).starts_with(CAMPAIGN.merge));
        assert_eq!(found["merge"]["artifacts"]["reports"]["junit"], "merged.xml");
    }

    #[test]
    fn what_is_filled_in_is_not_filled_in_again() {
        let campaign = Campaign { run: "run '@merge@' me@home", ..CAMPAIGN };
        assert_eq!(campaign.fill("a@b: @run@ @shards@@x@", &[("x", "y")]), "a@b: run '@merge@' me@home 3y");
    }

    #[test]
    fn slurm_runs_an_array_and_merges_after_any_end() {
        let script = slurm(&CAMPAIGN);
        assert!(script.contains("--array=1-3 ") && script.contains("--dependency=\"afterany:"), "{script}");
        assert!(script.contains(&format!("    {}\n    {CODE}\n", CAMPAIGN.run)) && !script.contains('@'), "{script}");
    }

    #[test]
    fn a_shard_ends_well_if_it_ran() {
        let ends_well = |code: i32| {
            let line = format!("(exit {code}); {CODE}");
            std::process::Command::new("sh").args(["-c", &line]).status().is_ok_and(|status| status.success())
        };
        assert!([0, 10, 18].into_iter().all(ends_well), "it passed, or found something");
        assert!(![1, 2, 101, 137].into_iter().any(ends_well), "it refused, panicked, or was killed");
    }
}
