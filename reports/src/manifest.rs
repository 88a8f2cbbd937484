//! Manifests: a campaign over many machines, as an engine that exists runs it.
//!
//! A shard that found something ends well, as its results are what counts: the merge has the verdict. Only a shard that
//! could not run ends badly.

/// A campaign for an engine.
#[derive(Debug, Clone, Copy)]
pub struct Campaign<'a> {
    /// How many shards.
    pub shards: u64,
    /// The line that runs a shard, which stands in it as `$shard`. No line break.
    pub run: &'a str,
    /// The line that merges `shard-*.json`. No line break.
    pub merge: &'a str,
}

impl Campaign<'_> {
    /// Shell lines that run the shard `$shard`.
    fn shard_lines(&self) -> [&str; 2] {
        // Exit codes from 10 on are findings; they are in the results.
        [self.run, "code=$?; test \"$code\" -eq 0 || test \"$code\" -ge 10"]
    }
}

/// An Indexed Job for the shards and a Job that merges once they have all written. `image` has the command in it, `claim`
/// is a volume that all of them may write.
pub fn kubernetes(campaign: &Campaign<'_>, image: &str, claim: &str) -> String {
    let shards = campaign.shards;
    let [run, code] = campaign.shard_lines();
    let (run, merge) = (indented(&["shard=$((JOB_COMPLETION_INDEX + 1))", run, code], 14), campaign.merge);
    let wait = format!("until test \"$(ls shard-*.json 2>/dev/null | wc -l)\" -ge {shards}; do sleep 5; done");
    let merge = indented(&[&wait, merge], 14);
    let head = |name: &str| format!("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\nspec:\n");
    let pod = |lines: &str| {
        format!(
            "  backoffLimit: 0\n  template:\n    spec:\n      restartPolicy: Never\n      containers:\n        - name: \
             seedbed\n          image: {}\n          workingDir: /results\n          command:\n            - /bin/sh\n\
             \x20           - -c\n            - |\n{lines}          volumeMounts:\n            - name: results\n\
             \x20             mountPath: /results\n      volumes:\n        - name: results\n          \
             persistentVolumeClaim:\n            claimName: {}\n",
            quoted(image),
            quoted(claim)
        )
    };
    let indexed = format!("  completionMode: Indexed\n  completions: {shards}\n  parallelism: {shards}\n");
    let (shards, merging) = (head("seedbed-shards"), head("seedbed-merge"));
    format!("{shards}{indexed}{}---\n{merging}{}", pod(&run), pod(&merge))
}

/// A workflow with a matrix of shards and a job that merges.
pub fn github(campaign: &Campaign<'_>) -> String {
    let numbers: Vec<String> = (1..=campaign.shards).map(|shard| shard.to_string()).collect();
    let [run, code] = campaign.shard_lines();
    let run = indented(&["set +e", run, code], 10);
    let merge = indented(&[campaign.merge], 10);
    format!(
        "name: campaign\non: workflow_dispatch\njobs:\n  shard:\n    runs-on: ubuntu-latest\n    strategy:\n      \
         fail-fast: false\n      matrix:\n        shard: [{}]\n    env:\n      shard: ${{{{ matrix.shard }}}}\n    \
         steps:\n      - uses: actions/checkout@v4\n      - run: |\n{run}      - uses: actions/upload-artifact@v4\n        \
         with:\n          name: shard-${{{{ matrix.shard }}}}\n          path: shard-${{{{ matrix.shard }}}}.json\n  \
         merge:\n    needs: shard\n    if: always()\n    runs-on: ubuntu-latest\n    steps:\n      - uses: \
         actions/checkout@v4\n      - uses: actions/download-artifact@v4\n        with:\n          pattern: shard-*\n          \
         merge-multiple: true\n      - run: |\n{merge}      - uses: actions/upload-artifact@v4\n        if: always()\n        \
         with:\n          name: merged\n          path: merged.json\n",
        numbers.join(", ")
    )
}

/// A pipeline with parallel shards and a job that merges.
pub fn gitlab(campaign: &Campaign<'_>, image: &str) -> String {
    let [run, code] = campaign.shard_lines();
    let run = indented(&["shard=$CI_NODE_INDEX", "set +e", run, code], 6);
    let merge = indented(&[campaign.merge], 6);
    format!(
        "image: {}\nstages: [shards, merge]\nshard:\n  stage: shards\n  parallel: {}\n  script:\n    - |\n{run}  \
         artifacts:\n    when: always\n    paths:\n      - shard-*.json\nmerge:\n  stage: merge\n  when: always\n  script:\n    \
         - |\n{merge}  artifacts:\n    when: always\n    paths:\n      - merged.json\n",
        quoted(image),
        campaign.shards
    )
}

/// A script: started by hand it submits itself as an array of shards, and a job that merges after them.
pub fn slurm(campaign: &Campaign<'_>) -> String {
    let [run, code] = campaign.shard_lines();
    format!(
        "#!/bin/bash\n# Start it on a login node, in a folder that all nodes share: bash FILE\n#SBATCH \
         --job-name=seedbed\n#SBATCH --ntasks=1\ncase \"${{1:-submit}}\" in\n  submit)\n    array=$(sbatch --parsable \
         --array=1-{} \"$0\" shard) || exit\n    sbatch --dependency=\"afterany:$array\" \"$0\" merge\n    ;;\n  shard)\n    \
         shard=$SLURM_ARRAY_TASK_ID\n    {run}\n    {code}\n    ;;\n  merge)\n    {}\n    ;;\nesac\n",
        campaign.shards, campaign.merge
    )
}

fn indented(lines: &[&str], spaces: usize) -> String {
    lines.iter().map(|line| format!("{:spaces$}{line}\n", "")).collect()
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
        let found = documents(&kubernetes(&CAMPAIGN, "registry/seed:1", "it's"));
        let [shards, merge] = found.as_slice() else { panic!("two jobs") };
        assert_eq!(shards["spec"]["completionMode"], "Indexed");
        assert_eq!((&shards["spec"]["completions"], &shards["spec"]["parallelism"]), (&3.into(), &3.into()));
        let pod = |job: &Value| job["spec"]["template"]["spec"].clone();
        let container = &pod(shards)["containers"][0];
        assert_eq!(container["image"], "registry/seed:1");
        assert_eq!(container["volumeMounts"][0]["mountPath"], container["workingDir"]);
        let lines: Vec<&str> = text(&container["command"][2]).lines().collect();
        assert_eq!(lines[..2], ["shard=$((JOB_COMPLETION_INDEX + 1))", CAMPAIGN.run]);
        assert_eq!(text(&pod(merge)["containers"][0]["command"][2]).lines().last(), Some(CAMPAIGN.merge));
        assert_eq!(pod(merge)["volumes"][0]["persistentVolumeClaim"]["claimName"], "it's");
        assert!(shards["spec"]["backoffLimit"] == 0 && pod(shards)["restartPolicy"] == "Never");
    }

    #[test]
    fn github_runs_a_matrix_and_merges() {
        let found = &documents(&github(&CAMPAIGN))[0]["jobs"];
        assert_eq!(found["shard"]["strategy"]["matrix"]["shard"], Value::from(vec![1, 2, 3]));
        assert_eq!(found["shard"]["env"]["shard"], "${{ matrix.shard }}");
        assert!(text(&found["shard"]["steps"][1]["run"]).contains(CAMPAIGN.run));
        assert_eq!(found["shard"]["steps"][2]["with"]["path"], "shard-${{ matrix.shard }}.json");
        assert_eq!(found["merge"]["needs"], "shard");
        assert_eq!(text(&found["merge"]["steps"][2]["run"]).trim_end(), CAMPAIGN.merge);
    }

    #[test]
    fn gitlab_runs_in_parallel_and_merges() {
        let found = &documents(&gitlab(&CAMPAIGN, "rust"))[0];
        assert_eq!(found["shard"]["parallel"], 3);
        assert!(text(&found["shard"]["script"][0]).starts_with("shard=$CI_NODE_INDEX\n"));
        assert!(text(&found["shard"]["script"][0]).contains(CAMPAIGN.run));
        assert_eq!(text(&found["merge"]["script"][0]).trim_end(), CAMPAIGN.merge);
    }
}
